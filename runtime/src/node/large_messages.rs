//! What a node fetches of messages that are too long for a frame.
//!
//! It takes a quarter of the node's memory at most, or is one message. What is announced beyond that waits for its turn.

use crate::base::host_memory::kept_bytes_max;
use crate::model::nocopy::Lender;
use chare_lrts::RegionKey;
use parking_lot::Mutex;
use std::collections::VecDeque;

/// Messages that wait in one node: a window of credit, and the runtime's own, from some hundred nodes.
const WAITING_MAX: usize = 1 << 20;

/// A message where its sender lends it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Large {
    pub(crate) key: RegionKey,
    pub(crate) lender: Lender,
}

/// What one node fetches.
#[derive(Default)]
pub(crate) struct LargeMessages(Mutex<State>);

#[derive(Default)]
struct State {
    /// Of those that are being fetched.
    bytes: u64,
    waiting: VecDeque<Large>,
    /// Somebody begins with those that have their turn, one after another: fetching one may be over at once.
    is_turning: bool,
}

impl State {
    fn admits(&self, bytes: u64) -> bool {
        self.bytes == 0 || self.bytes.checked_add(bytes).is_some_and(|sum| sum <= kept_bytes_max())
    }
}

impl LargeMessages {
    /// Gives a message back that is to be fetched now; another waits.
    ///
    /// # Errors
    /// When too many wait, in words.
    pub(crate) fn announce(&self, large: Large) -> Result<Option<Large>, String> {
        let mut state = self.0.lock();
        if state.waiting.is_empty() && state.admits(large.key.len) {
            state.bytes += large.key.len;
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

    /// So many bytes are fetched. Returns whether the caller is to fetch what [`LargeMessages::next`] gives, until that is nothing.
    pub(crate) fn over(&self, bytes: u64) -> bool {
        let mut state = self.0.lock();
        state.bytes -= bytes;
        !std::mem::replace(&mut state.is_turning, true)
    }

    /// The next message that has its turn now.
    pub(crate) fn next(&self) -> Option<Large> {
        let mut state = self.0.lock();
        let next = state.waiting.front().copied().filter(|large| state.admits(large.key.len));
        match next {
            Some(large) => {
                state.bytes += large.key.len;
                state.waiting.pop_front();
            }
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

    #[test]
    fn what_has_no_room_waits_for_its_turn() {
        let (fetching, most) = (LargeMessages::default(), kept_bytes_max());
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
        let fetching = LargeMessages::default();
        assert_eq!(fetching.announce(large(u64::MAX)), Ok(Some(large(u64::MAX))));
        assert_eq!(fetching.announce(large(1)), Ok(None));
        assert!(fetching.over(u64::MAX));
        assert_eq!(fetching.next(), Some(large(1)));
    }
}
