//! Wire format of `leased`: a header before every message, and the messages of this backend's own.
//!
//! A header has [`HEADER_BYTES`] bytes, little-endian: the receiver's door (u64), the sequence number between the two
//! nodes (u32), the source (u32), the kind (u8). A sender that does not know the door, a random number that the bootstrap
//! told to the nodes of the job, is not heard.

use crate::codec;
use crate::emulated::wire::{OperationId, Range, Reason};
use crate::frame::Channel;
use crate::ids::NodeId;
use serde::{Deserialize, Serialize};

/// A posted buffer: one message with its header.
pub(crate) const BUFFER_BYTES: usize = 64 << 10;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 17;

/// More bytes than any message of our own takes.
const CONTROL_BYTES_MAX: usize = 64;

/// The bytes of a message of our own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded {
    bytes: [u8; CONTROL_BYTES_MAX],
    len: usize,
}

impl Encoded {
    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// In the place of a channel.
const CONTROL: u8 = 16;

/// Kind of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Frame(Channel),
    Control,
}

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
        let mut bytes = [0; HEADER_BYTES];
        bytes[..8].copy_from_slice(&self.door.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.source.0.to_le_bytes());
        bytes[16] = match self.kind {
            Kind::Frame(channel) => channel as u8,
            Kind::Control => CONTROL,
        };
        bytes
    }

    /// The header and what follows it; `None` when it is none of ours.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let (door, rest) = header.split_first_chunk::<8>()?;
        let (sequence, rest) = rest.split_first_chunk::<4>()?;
        let (source, kind) = rest.split_first_chunk::<4>()?;
        let kind = match kind[0] {
            CONTROL => Kind::Control,
            byte => Kind::Frame(Channel::from_byte(byte)?),
        };
        let source = NodeId(u32::from_le_bytes(*source));
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

impl Control {
    pub(crate) fn encode(self) -> Encoded {
        let mut bytes = [0; CONTROL_BYTES_MAX];
        let len = codec::encode_to_slice(&self, &mut bytes)
            .expect("the bound was counted from the longest message");
        Encoded { bytes, len }
    }

    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, String> {
        codec::decode(bytes).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for kind in [Kind::Frame(Channel::Runtime), Kind::Frame(Channel::Emulated), Kind::Control] {
            let header = Header { door: u64::MAX - 1, sequence: 7, source: NodeId(9), kind };
            let bytes = [&header.encode()[..], &[1, 2]].concat();
            assert_eq!(Header::decode(&bytes), Some((header, &[1, 2][..])));
            assert_eq!(Header::decode(&bytes[..HEADER_BYTES - 1]), None);
        }
        let range = Range { slot: u32::MAX, generation: u64::MAX, offset: u64::MAX, len: u64::MAX };
        let window = Window { address: u64::MAX, key: u64::MAX };
        for control in [
            Control::Hello,
            Control::Goodbye,
            Control::Open { id: u64::MAX, range, writing: true },
            Control::Granted { id: 1, window },
            Control::Failed { id: 2, reason: Reason::OutOfRange { region_len: u64::MAX } },
            Control::Unregistered { id: 3 },
            Control::Release { id: 4 },
        ] {
            let encoded = control.encode();
            let bytes = encoded.as_slice();
            assert_eq!(Control::decode(bytes), Ok(control));
            assert!(Control::decode(&bytes[..bytes.len() - 1]).is_err());
            assert!(Control::decode(&[bytes, &[0]].concat()).is_err());
        }
    }

    #[test]
    fn lies_are_no_messages() {
        assert_eq!(Header::decode(&[0xff; HEADER_BYTES]), None);
        assert!(Control::decode(&[0xff; 30]).is_err());
        assert!(Control::decode(&[]).is_err());
    }
}
