//! Wire format of `mpi`: a header before every message, the messages of this backend's own, and the tags of long transfers.
//!
//! A header has [`HEADER_BYTES`] bytes: the source (u32, little-endian) and the kind (u8). MPI says which process sent a message;
//! the source says which of its nodes.
//!
//! All messages have the tag 0. A long transfer has one of its own, which its receiver chose: no two that a node waits for have
//! the same ([`Tags`]), from whichever peer they come.

use crate::codec;
use crate::emulated::wire::{OperationId, Range, Reason};
use crate::frame::Channel;
use crate::ids::NodeId;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// A posted buffer: one message with its header.
pub(super) const BUFFER_BYTES: usize = 64 << 10;

/// Bytes of a header.
pub(super) const HEADER_BYTES: usize = 5;

/// The tag of every message.
pub(super) const MESSAGE_TAG: u32 = 0;

/// The largest tag that every MPI has (`MPI_TAG_UB`, MPI standard, section "Environmental Inquiries").
const TAG_MAX: u32 = 32_767;

/// In the place of a channel.
const CONTROL: u8 = 16;

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Frame(Channel),
    Control,
}

/// Header of each message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Header {
    pub(super) source: NodeId,
    pub(super) kind: Kind,
}

impl Header {
    pub(super) fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.source.0.to_le_bytes());
        bytes[4] = match self.kind {
            Kind::Frame(channel) => channel as u8,
            Kind::Control => CONTROL,
        };
        bytes
    }

    /// The header and what follows it; `None` when it is none of ours.
    pub(super) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let (source, kind) = header.split_first_chunk::<4>()?;
        let kind = match kind[0] {
            CONTROL => Kind::Control,
            byte => Kind::Frame(Channel::from_byte(byte)?),
        };
        Some((Self { source: NodeId(u32::from_le_bytes(*source)), kind }, body))
    }
}

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

impl Control {
    pub(super) fn encode(self) -> Vec<u8> {
        let mut bytes = Vec::new();
        codec::encode_into(&self, &mut bytes).expect("numbers are always encoded");
        bytes
    }

    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, String> {
        codec::decode(bytes).map_err(|error| error.to_string())
    }
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

    #[test]
    fn what_is_written_is_read() {
        for kind in [Kind::Frame(Channel::Runtime), Kind::Frame(Channel::Emulated), Kind::Control] {
            let header = Header { source: NodeId(9), kind };
            let bytes = [&header.encode()[..], &[1, 2]].concat();
            assert_eq!(Header::decode(&bytes), Some((header, &[1, 2][..])));
            assert_eq!(Header::decode(&bytes[..HEADER_BYTES - 1]), None);
        }
        let range = Range { slot: u32::MAX, generation: u64::MAX, offset: u64::MAX, len: u64::MAX };
        for control in [
            Control::Goodbye,
            Control::Get { id: u64::MAX, range, tag: u32::MAX },
            Control::Put { id: 1, range },
            Control::Sending { id: 2 },
            Control::Receiving { id: 3, tag: 4 },
            Control::Done { id: 5 },
            Control::Failed { id: 6, reason: Reason::OutOfRange { region_len: u64::MAX } },
        ] {
            let bytes = control.encode();
            assert_eq!(Control::decode(&bytes), Ok(control));
            assert!(Control::decode(&bytes[..bytes.len() - 1]).is_err());
            assert!(Control::decode(&[&bytes[..], &[0]].concat()).is_err());
        }
    }

    #[test]
    fn lies_are_no_messages() {
        assert_eq!(Header::decode(&[0xff; HEADER_BYTES]), None);
        assert!(Control::decode(&[0xff; 30]).is_err());
        assert!(Control::decode(&[]).is_err());
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
