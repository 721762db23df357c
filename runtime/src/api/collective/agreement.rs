//! Agreement of the members of an exchange: what each says that it does in a round, compared at every seat that hears of it.
//!
//! 1. Whatever comes to a seat says its round, its member and the member's deed. The first word of a round is kept; that another says
//!    something else later is an error, in words that name both. It ends the job, whatever becomes of the entry that says it: the others
//!    would wait.
//! 2. A round is over at a seat when nothing more can come to it. What comes all the same comes from who disagrees, or begins twice. Of the
//!    last rounds the seat still knows what they were.

use crate::base::seen_numbers::SeenNumbers;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Rounds that are over and still known.
const PAST: usize = 64;

/// What the members of an exchange do in a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Deed {
    AllToAll,
    AllGather,
    ShowAll,
}

impl Deed {
    /// The method that its members call.
    fn method(self) -> &'static str {
        match self {
            Self::AllToAll => "`all_to_all`",
            Self::AllGather => "`all_gather`",
            Self::ShowAll => "`show_all`",
        }
    }
}

/// A member's number, and what it does.
pub(super) type Word = (u64, Deed);

/// The rounds of which a seat has heard.
#[derive(Default)]
pub(super) struct Agreement {
    /// The first word of each round that is not over.
    open: FxHashMap<u64, Word>,
    over: SeenNumbers,
    /// The last rounds that were over, oldest first.
    past: VecDeque<(u64, Word)>,
}

impl Agreement {
    /// Hears a word. Returns whether the round is over here.
    ///
    /// # Errors
    /// Another member said that it does something else, in words.
    pub(super) fn hear(&mut self, round: u64, word: Word) -> Result<bool, String> {
        let is_over = self.over.includes(round);
        let before = if is_over {
            self.past.iter().find(|(past, _)| *past == round).map(|(_, word)| *word)
        } else {
            Some(*self.open.entry(round).or_insert(word))
        };
        match before.filter(|(_, deed)| *deed != word.1) {
            Some(before) => Err(disagree(round, before, word)),
            None => Ok(is_over),
        }
    }

    /// Hears the word of a member whose part comes with it.
    ///
    /// # Errors
    /// As of [`hear`](Self::hear), and a round that is over here.
    pub(super) fn expect(&mut self, round: u64, word: Word) -> Result<(), String> {
        if self.hear(round, word)? { Err(twice(round, word)) } else { Ok(()) }
    }

    /// Notes that nothing more can come to this seat in a round of which it has heard.
    pub(super) fn end(&mut self, round: u64) {
        if let Some(word) = self.open.remove(&round) {
            self.past.push_back((round, word));
            if self.past.len() > PAST {
                self.past.pop_front();
            }
        }
        self.over.insert(round);
    }
}

/// That two members do different things, in words.
#[cold]
fn disagree(round: u64, (other, before): Word, (from, deed): Word) -> String {
    let (before, deed) = (before.method(), deed.method());
    format!(
        "in round {round} of an exchange member {other} calls {before}, and member {from} calls {deed}: all members begin the same rounds, in \
         the same order"
    )
}

/// That a member begins a round twice, in words.
pub(super) fn twice(round: u64, (member, deed): Word) -> String {
    let called = deed.method();
    format!(
        "member {member} begins round {round} of an exchange twice, the second time by {called}: each member has a number and a handle of its \
         own"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_end_in_any_order() {
        let mut agreement = Agreement::default();
        for round in [2, 0, 3, 1] {
            assert_eq!(agreement.hear(round, (0, Deed::ShowAll)), Ok(false));
            agreement.end(round);
            assert_eq!(agreement.hear(round, (1, Deed::ShowAll)), Ok(true));
        }
        assert!(agreement.open.is_empty());
    }

    #[test]
    fn who_disagrees_is_named_and_what_both_do() {
        for is_over in [false, true] {
            let mut agreement = Agreement::default();
            assert_eq!(agreement.expect(0, (4, Deed::AllToAll)), Ok(()));
            if is_over {
                agreement.end(0);
            }
            let said = agreement.hear(0, (7, Deed::ShowAll)).expect_err("they disagree");
            assert!(said.contains("round 0 of an exchange member 4 calls `all_to_all`"), "{said}");
            assert!(said.contains("member 7 calls `show_all`"), "{said}");
        }
    }

    #[test]
    fn what_comes_when_a_round_is_over_was_begun_twice_however_long_ago() {
        for later in [0, 2 * PAST as u64] {
            let mut agreement = Agreement::default();
            for round in 0..=later {
                assert_eq!(agreement.expect(round, (1, Deed::AllGather)), Ok(()));
                agreement.end(round);
            }
            let said = agreement.expect(0, (3, Deed::AllGather)).expect_err("it is over");
            assert!(said.contains("member 3 begins round 0 of an exchange twice"), "{said}");
        }
    }
}
