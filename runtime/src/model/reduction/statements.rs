//! Statements about a collection's reductions, from each place of the tree to the one above, and news of what has begun, down the tree.
//!
//! A *place* is a PE, below the first PE of its node; or a node, below the node above it in the tree.
//!
//! 1. A place says each reduction once, when all below it have closed it: its partial. Of reductions of one name it says the one that
//!    began first first. It numbers what it says, and the place above takes it in that order, whatever order the network gives it.
//! 2. So the place above need not know another's numbers: what a place says goes to the first reduction of that name that the place has
//!    not said. See [`super::gathering`].
//! 3. A collection that cannot grow has only places with members, or that had some. A place that has lost its last member says that, and
//!    is awaited no more. The same where a collection could grow and nobody is anywhere any more: then every place says so. A place that
//!    has left hears no news.
//! 4. In a collection that may grow, a place that knows nothing of a reduction has to be told. The place above tells it of those that
//!    have begun and that the place has not said, of the first [`TOLD_MAX`], and how many statements of the place it had taken by then. What
//!    the place has said since then is no news. Telling anew changes nothing, and older news that come later are ignored.
//! 5. For that a place keeps the names of what it said since the last news, so it is told from time to time in any case.
//!
//! A member that moves has to find what it has not contributed to on another PE. In a collection whose members may move, the root can number
//! reductions in the order in which it hears of them, and news take the number along: a member is free to leave when those to which it
//! contributed ahead of others have one.

use super::partial::Name;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The most reductions of which a place is told at once.
pub(super) const TOLD_MAX: usize = 16;

/// News for a place, of the reductions that have begun.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// How many statements of the place the one above has taken.
    pub(super) heard: u64,
    /// The first reductions, in order, that the place has not said.
    pub(super) missing: Vec<Name>,
}

/// What a place has said to the one above.
#[derive(Debug)]
pub(super) struct Said {
    count: u64,
    /// Names of the last statements. `None` if nobody asks for them.
    log: Option<VecDeque<Option<Name>>>,
}

impl Said {
    /// The beginning; `is_told` if the collection may grow.
    pub(super) fn new(is_told: bool) -> Self {
        Self { count: 0, log: is_told.then(VecDeque::new) }
    }

    /// Counts a statement: of a reduction of this name, or of something else. Returns the statement's number.
    pub(super) fn say(&mut self, name: Option<Name>) -> u64 {
        if let Some(log) = &mut self.log {
            log.push_back(name);
        }
        self.count += 1;
        self.count - 1
    }

    /// The reductions of which the place above knows and that this place has not said, in order.
    ///
    /// # Errors
    /// When the place above cannot have sent these news, in words: other nodes may say anything.
    pub(super) fn missing(&mut self, Begun { heard, missing }: Begun) -> Result<Vec<Name>, String> {
        let log = self.log.as_mut().ok_or("there are news of a collection that cannot grow")?;
        if heard > self.count || missing.len() > TOLD_MAX {
            let told = missing.len();
            return Err(format!("news of {told} reductions after {heard} of {} statements", self.count));
        }
        let first = self.count - log.len() as u64;
        let Some(known) = heard.checked_sub(first) else { return Ok(Vec::new()) };
        log.drain(..known as usize);
        let mut said: Vec<Name> = log.iter().flatten().copied().collect();
        let is_news = |name: &Name| {
            let place = said.iter().position(|said| said.fits(name));
            place.map(|place| said.remove(place)).is_none()
        };
        Ok(missing.into_iter().filter(is_news).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::callback::Callback;

    fn name(reference: u64) -> Name {
        Name { callback: Callback::<u64>::ignore().with_reference(reference).erase(), within: None }
    }

    fn begun(heard: u64, missing: &[u64]) -> Begun {
        Begun { heard, missing: missing.iter().copied().map(name).collect() }
    }

    #[test]
    fn news_are_what_was_not_said_in_whatever_order_they_come() {
        let mut said = Said::new(true);
        assert_eq!([1, 2, 1].map(|reference| said.say(Some(name(reference)))), [0, 1, 2]);
        assert_eq!(said.missing(begun(1, &[2, 1, 1])).unwrap(), [name(1)]);
        assert_eq!(said.missing(begun(1, &[2, 1, 1])).unwrap(), [name(1)], "told anew");
        assert_eq!(said.missing(begun(2, &[1, 1])).unwrap(), [name(1)]);
        assert_eq!(said.missing(begun(1, &[2])).unwrap(), [], "older news");
        assert_eq!(said.missing(begun(3, &[1])).unwrap(), [name(1)]);
        assert!(said.log.as_ref().unwrap().is_empty());
    }

    #[test]
    fn news_that_cannot_be_are_refused() {
        assert!(Said::new(true).missing(begun(1, &[])).is_err());
        assert!(Said::new(true).missing(begun(0, &[7; TOLD_MAX + 1])).is_err());
        assert!(Said::new(true).missing(begun(0, &[7; TOLD_MAX])).is_ok());
        assert!(Said::new(false).missing(begun(0, &[])).is_err());
    }
}
