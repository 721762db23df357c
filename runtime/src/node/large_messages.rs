//! Large messages: messages too long for a frame, which a node fetches from their senders' memory; bounded.
//!
//! The messages being fetched take of the node's allowance of memory, or are one message. Messages announced beyond that wait for their
//! turn, which comes when one of those being fetched is here.

use crate::base::allowance::{Allowance, Purpose};
use crate::model::nocopy::Lender;
use chare_lrts::RegionKey;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Largest number of messages that wait in one node: a window of credit, and the runtime's own messages, from some hundred nodes.
const WAITING_MAX: usize = 1 << 20;

/// A message in the memory of its sender, which lends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Large {
    pub(crate) key: RegionKey,
    pub(crate) lender: Lender,
}

/// The large messages that one node fetches, and those that wait for their turn.
pub(crate) struct LargeMessages {
    allowance: Arc<Allowance>,
    state: Mutex<FetchQueue>,
}

#[derive(Default)]
struct FetchQueue {
    waiting: VecDeque<Large>,
    /// Whether a thread starts the fetches whose turn has come, one after another: a fetch may be over as soon as it starts.
    is_turning: bool,
}

impl LargeMessages {
    /// None yet, on the node that has this allowance.
    pub(crate) fn new(allowance: Arc<Allowance>) -> Self {
        Self { allowance, state: Mutex::default() }
    }

    fn admits(&self, large: &Large) -> bool {
        self.allowance.take(Purpose::Fetched, large.key.len).is_ok()
    }

    /// Gives the message back if it is to be fetched now; else the message waits for its turn.
    ///
    /// # Errors
    /// When too many messages wait, in words.
    pub(crate) fn announce(&self, large: Large) -> Result<Option<Large>, String> {
        let mut state = self.state.lock();
        if state.waiting.is_empty() && self.admits(&large) {
            return Ok(Some(large));
        }
        if state.waiting.len() == WAITING_MAX {
            return Err(format!(
                "it announces one more message than the {WAITING_MAX} that may wait to be fetched"
            ));
        }
        state.waiting.push_back(large);
        Ok(None)
    }

    /// Notes that a message of so many bytes has been fetched. Returns whether the caller is to fetch the messages that
    /// [`LargeMessages::next`] gives, until it gives none.
    pub(crate) fn over(&self, bytes: u64) -> bool {
        let mut state = self.state.lock();
        self.allowance.give_back(Purpose::Fetched, bytes);
        !std::mem::replace(&mut state.is_turning, true)
    }

    /// How many wait for their turn.
    #[cfg(feature = "sim")]
    pub(crate) fn waiting(&self) -> usize {
        self.state.lock().waiting.len()
    }

    /// The next message, if its turn has come.
    pub(crate) fn next(&self) -> Option<Large> {
        let mut state = self.state.lock();
        let next = state.waiting.front().copied().filter(|large| self.admits(large));
        match next {
            Some(_) => drop(state.waiting.pop_front()),
            None => state.is_turning = false,
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chare_lrts::NodeId;

    fn large(len: u64) -> Large {
        let key = RegionKey { node: NodeId(1), slot: 0, generation: 0, len };
        Large { key, lender: Lender { node: NodeId(1), token: 0 } }
    }

    /// Four other purposes have ten bytes each for themselves.
    fn fetching() -> LargeMessages {
        LargeMessages::new(Arc::new(Allowance::new(160)))
    }

    #[test]
    fn what_has_no_room_waits_for_its_turn() {
        let (fetching, most) = (fetching(), 120);
        assert_eq!(fetching.announce(large(most)), Ok(Some(large(most))));
        assert_eq!(fetching.announce(large(1)), Ok(None));
        assert_eq!(fetching.announce(large(most - 1)), Ok(None));
        assert_eq!(fetching.announce(large(2)), Ok(None));
        let turns = |bytes| {
            assert!(fetching.over(bytes) && !fetching.over(0), "one begins with them");
            std::iter::from_fn(|| fetching.next()).collect::<Vec<_>>()
        };
        assert_eq!(turns(most), [large(1), large(most - 1)]);
        assert_eq!(turns(1), []);
        assert_eq!(turns(most - 1), [large(2)]);
    }

    #[test]
    fn one_message_is_fetched_however_long_it_is() {
        let fetching = fetching();
        assert_eq!(fetching.announce(large(u64::MAX)), Ok(Some(large(u64::MAX))));
        assert_eq!(fetching.announce(large(1)), Ok(None));
        assert!(fetching.over(u64::MAX));
        assert_eq!(fetching.next(), Some(large(1)));
    }
}
