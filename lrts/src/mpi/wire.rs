//! Wire format of `mpi`: the messages of this backend's own, and the tags of long transfers. Before every message stands a
//! [`Header`](crate::fabric::wire::Header): MPI says which process sent it, the header says which of its nodes.
//!
//! All messages have the tag 0. A long transfer has one of its own, which its receiver chose: no two that a node waits for have
//! the same ([`Tags`]), from whichever peer they come.

use crate::emulated::wire::{OperationId, Range, Reason};
use crate::fabric::exchange::Own;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// The tag of every message.
pub(super) const MESSAGE_TAG: u32 = 0;

/// The largest tag that every MPI has (`MPI_TAG_UB`, MPI standard, section "Environmental Inquiries").
const TAG_MAX: u32 = 32_767;

/// A message of this backend's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Control {
    /// The last message in each direction.
    Goodbye,
    /// Poster to server: send me this range under this tag.
    Get { id: OperationId, range: Range, tag: u32 },
    /// Poster to server: take this range.
    Put { id: OperationId, range: Range },
    /// Server to poster of a get: the range is on its way.
    Sending { id: OperationId },
    /// Server to poster of a put: the range is yours, send it under this tag.
    Receiving { id: OperationId, tag: u32 },
    /// Server to poster of a put: all of it is in memory.
    Done { id: OperationId },
    /// Server to poster: nothing was moved, and will be.
    Failed { id: OperationId, reason: Reason },
}

impl Own for Control {
    const GOODBYE: Self = Self::Goodbye;
}

/// Whether a peer may ask for a transfer under this tag.
pub(super) fn is_transfer_tag(tag: u32) -> bool {
    (MESSAGE_TAG + 1..=TAG_MAX).contains(&tag)
}

/// The tags of the transfers that a node waits for.
pub(super) struct Tags {
    last: u32,
    max: u32,
    used: FxHashSet<u32>,
}

impl Tags {
    pub(super) fn new() -> Self {
        Self::up_to(TAG_MAX)
    }

    fn up_to(max: u32) -> Self {
        Self { last: MESSAGE_TAG, max, used: FxHashSet::default() }
    }

    /// The next tag that nobody uses: the one that was free for longest, but for those that are still in use after a whole
    /// round. `None` when all are.
    pub(super) fn take(&mut self) -> Option<u32> {
        if self.used.len() >= self.max as usize {
            return None;
        }
        loop {
            self.last = if self.last == self.max { MESSAGE_TAG + 1 } else { self.last + 1 };
            if self.used.insert(self.last) {
                return Some(self.last);
            }
        }
    }

    /// No transfer under this tag will come any more.
    pub(super) fn give_back(&mut self, tag: u32) {
        self.used.remove(&tag);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::wire::tests::check_controls;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let range = Range { slot: u32::MAX, generation: u64::MAX, offset: u64::MAX, len: u64::MAX };
        check_controls([
            Control::Goodbye,
            Control::Get { id: u64::MAX, range, tag: u32::MAX },
            Control::Put { id: 1, range },
            Control::Sending { id: 2 },
            Control::Receiving { id: 3, tag: 4 },
            Control::Done { id: 5 },
            Control::Failed { id: 6, reason: Reason::OutOfRange { region_len: u64::MAX } },
        ]);
    }

    #[test]
    fn tags_in_use_are_left_out_when_they_wrap_around() {
        let mut tags = Tags::up_to(4);
        assert_eq!([(); 4].map(|()| tags.take()), [Some(1), Some(2), Some(3), Some(4)]);
        assert_eq!(tags.take(), None);
        tags.give_back(3);
        tags.give_back(1);
        assert_eq!([(); 3].map(|()| tags.take()), [Some(1), Some(3), None]);
        assert!(!is_transfer_tag(MESSAGE_TAG) && is_transfer_tag(1));
        assert!(is_transfer_tag(TAG_MAX) && !is_transfer_tag(TAG_MAX + 1));
    }
}
