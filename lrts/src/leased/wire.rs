//! Wire format of `leased`: a header before every message, and the messages of this backend's own.
//!
//! A header has [`HEADER_BYTES`] bytes, little-endian: the receiver's door (u64), the sequence number between the two
//! nodes (u32), and what every network has ([`wire::Header`]). A sender that does not know the door, a random number that the bootstrap
//! told to the nodes of the job, is not heard.

use crate::emulated::wire::{OperationId, Range, Reason};
use crate::fabric::exchange::Own;
use crate::fabric::wire::{self, Kind};
use crate::ids::NodeId;
use serde::{Deserialize, Serialize};

pub(crate) use crate::fabric::wire::BUFFER_BYTES;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 12 + wire::HEADER_BYTES;

/// Header of each message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header {
    pub(crate) door: u64,
    pub(crate) sequence: u32,
    pub(crate) source: NodeId,
    pub(crate) kind: Kind,
}

impl Header {
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let Self { door, sequence, source, kind } = self;
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&door.to_le_bytes());
        bytes[8..12].copy_from_slice(&sequence.to_le_bytes());
        bytes[12..].copy_from_slice(&wire::Header { source, kind }.encode());
        bytes
    }

    /// The header and what follows it; `None` when it is none of ours.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (door, rest) = bytes.split_first_chunk::<8>()?;
        let (sequence, rest) = rest.split_first_chunk::<4>()?;
        let (wire::Header { source, kind }, body) = wire::Header::decode(rest)?;
        let (door, sequence) = (u64::from_le_bytes(*door), u32::from_le_bytes(*sequence));
        Some((Self { door, sequence, source, kind }, body))
    }
}

/// Where a leased range begins, as one-sided operations name it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) address: u64,
    pub(crate) key: u64,
}

/// A message of this backend's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Control {
    /// The first message in each direction: proves the path.
    Hello,
    /// The last.
    Goodbye,
    /// Poster to server: lease me this range, for reading or for writing.
    Open { id: OperationId, range: Range, writing: bool },
    /// Server to poster: the range is yours until you release it.
    Granted { id: OperationId, window: Window },
    /// Server to poster: it is not, and never will be.
    Failed { id: OperationId, reason: Reason },
    /// Server to poster: the network would not register the memory.
    Unregistered { id: OperationId },
    /// Poster to server: all bytes have moved.
    Release { id: OperationId },
}

impl Own for Control {
    const GOODBYE: Self = Self::Goodbye;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::wire::tests::check_controls;
    use crate::frame::Channel;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        for kind in [Kind::Frame(Channel::Runtime), Kind::Control] {
            let header = Header { door: u64::MAX - 1, sequence: 7, source: NodeId(9), kind };
            let bytes = [&header.encode()[..], &[1, 2]].concat();
            assert_eq!(Header::decode(&bytes), Some((header, &[1, 2][..])));
            assert_eq!(Header::decode(&bytes[..HEADER_BYTES - 1]), None);
        }
        let range = Range { slot: u32::MAX, generation: u64::MAX, offset: u64::MAX, len: u64::MAX };
        let window = Window { address: u64::MAX, key: u64::MAX };
        check_controls([
            Control::Hello,
            Control::Goodbye,
            Control::Open { id: u64::MAX, range, writing: true },
            Control::Granted { id: 1, window },
            Control::Failed { id: 2, reason: Reason::OutOfRange { region_len: u64::MAX } },
            Control::Unregistered { id: 3 },
            Control::Release { id: 4 },
        ]);
    }
}
