//! Reductions of a section at one place of its tree, where members and the places below contribute alike.
//!
//! 1. Contributors are members and places below. Each contributes once to each reduction until it leaves: a member by its end, a place
//!    below when nobody contributes there any more. A contributor that leaves says which reduction is the first without it.
//! 2. A reduction is complete when all contributors that are there, or that left behind it, have contributed. Reductions complete in
//!    order.
//!
//! Contributions and the news of an end may overtake each other, so contributions are counted.

use crate::model::callback::ErasedCallback;
use crate::model::reduction::Share;
use std::collections::VecDeque;

/// The reductions of a section at one place of its tree; see the file's head.
pub(super) struct Reductions {
    /// The number of contributors to all reductions that are to come.
    present: u64,
    /// For each contributor that left: the first reduction without it, as long as earlier ones are not complete.
    ends: Vec<u64>,
    /// The first reduction that is not complete.
    first: u64,
    /// In the order of their numbers; without memory as long as there are none, as in most sections most of the time.
    open: VecDeque<Open>,
}

struct Open {
    number: u64,
    share: Share,
    contributions: u64,
}

impl Reductions {
    pub(super) fn new(present: u64) -> Self {
        Self { present, ends: Vec::new(), first: 0, open: VecDeque::new() }
    }

    /// Adds one contribution.
    ///
    /// # Errors
    /// When the contribution does not fit those of others, in words.
    pub(super) fn add(&mut self, number: u64, share: Share) -> Result<(), String> {
        if number < self.first {
            return Err("a member contributed to it that is none, or is another one by now".to_owned());
        }
        match self.open.binary_search_by_key(&number, |open| open.number) {
            Ok(place) => {
                let open = &mut self.open[place];
                open.contributions += 1;
                open.share.absorb(share)
            }
            Err(place) => {
                if self.open.is_empty() {
                    // Nearly always there is one at a time.
                    self.open.reserve_exact(1);
                }
                self.open.insert(place, Open { number, share, contributions: 1 });
                Ok(())
            }
        }
    }

    /// Removes a contributor that leaves; `end` is the first reduction without it.
    ///
    /// # Errors
    /// When no contributor is left, in words: other nodes may send anything.
    pub(super) fn leave(&mut self, end: u64) -> Result<(), String> {
        self.present = self.present.checked_sub(1).ok_or("more leave it than there are")?;
        if end > self.first {
            self.ends.push(end);
        }
        Ok(())
    }

    /// Takes the next reduction, if it is complete.
    pub(super) fn complete(&mut self) -> Option<(u64, Share)> {
        let number = self.first;
        let late = self.ends.iter().filter(|end| **end > number).count() as u64;
        let contributions = self.open.front().filter(|open| open.number == number)?.contributions;
        if contributions < self.present.saturating_add(late) {
            return None;
        }
        let Open { share, .. } = self.open.pop_front()?;
        if self.open.is_empty() {
            self.open = VecDeque::new();
        }
        self.first += 1;
        self.ends.retain(|end| *end > self.first);
        Some((number, share))
    }

    /// The first reduction to which contributions have come: its number, how many have come, how many are awaited in all, and the callback.
    pub(super) fn first_open(&self) -> Option<(u64, u64, u64, ErasedCallback)> {
        let Open { number, share, contributions } = self.open.front()?;
        let late = self.ends.iter().filter(|end| **end > *number).count() as u64;
        Some((*number, *contributions, self.present.saturating_add(late), share.callback))
    }

    /// The first reduction to which nobody contributes any more, if that is certain.
    pub(super) fn end(&self) -> Option<u64> {
        (self.present == 0 && self.ends.is_empty()).then_some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;
    use crate::model::ids::Index;
    use crate::model::reduction::reducers::sum;

    fn add(state: &mut Reductions, number: u64) {
        let callback = Callback::<u64>::ignore().erase();
        state.add(number, Share::new(sum(1u64).of_member(Index::from(0), || 0), callback)).unwrap();
    }

    /// The reductions that are complete now, and their sums.
    fn complete(state: &mut Reductions) -> Vec<(u64, u64)> {
        std::iter::from_fn(|| state.complete())
            .map(|(number, share)| (number, share.finish().unwrap().take().unwrap()))
            .collect()
    }

    #[test]
    fn reductions_complete_in_order_when_all_have_contributed() {
        let mut state = Reductions::new(2);
        for number in [1, 1, 0] {
            add(&mut state, number);
        }
        assert_eq!(complete(&mut state), []);
        add(&mut state, 0);
        assert_eq!(complete(&mut state), [(0, 2), (1, 2)]);
        assert_eq!(state.end(), None);
    }

    #[test]
    fn who_leaves_is_awaited_up_to_its_end() {
        let mut state = Reductions::new(3);
        // The contributions of the one that leaves may come after this news.
        state.leave(2).unwrap();
        for number in [0, 1, 2, 0, 1, 2] {
            add(&mut state, number);
        }
        assert_eq!(complete(&mut state), []);
        add(&mut state, 0);
        assert_eq!(complete(&mut state), [(0, 3)]);
        add(&mut state, 1);
        assert_eq!(complete(&mut state), [(1, 3), (2, 2)]);
        state.leave(0).unwrap();
        add(&mut state, 3);
        assert_eq!(complete(&mut state), [(3, 1)]);
        state.leave(5).unwrap();
        assert_eq!(state.end(), None, "one contribution is on its way");
        add(&mut state, 4);
        assert_eq!(complete(&mut state), [(4, 1)]);
        assert_eq!(state.end(), Some(5));
        assert!(state.leave(5).is_err());
    }

    #[test]
    fn a_contribution_to_what_is_complete_is_refused() {
        let mut state = Reductions::new(1);
        add(&mut state, 0);
        assert_eq!(complete(&mut state), [(0, 1)]);
        let callback = Callback::<u64>::ignore().erase();
        assert!(state.add(0, Share::new(sum(1u64).of_member(Index::from(0), || 0), callback)).is_err());
    }
}
