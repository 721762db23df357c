//! Wire format of the messages that backends of libraries share: who sends one, of what kind it is, and how their own are written.
//!
//! A header has [`HEADER_BYTES`] bytes: the source (u32, little-endian) and the kind (u8).

use crate::codec;
use crate::frame::Channel;
use crate::ids::NodeId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A posted buffer: one message with its header.
pub(crate) const BUFFER_BYTES: usize = 64 << 10;

/// Bytes of a header.
pub(crate) const HEADER_BYTES: usize = 5;

/// More bytes than any message of a backend's own takes.
const CONTROL_BYTES_MAX: usize = 64;

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
    pub(crate) source: NodeId,
    pub(crate) kind: Kind,
}

impl Header {
    pub(crate) fn encode(self) -> [u8; HEADER_BYTES] {
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&self.source.0.to_le_bytes());
        bytes[4] = match self.kind {
            Kind::Frame(channel) => channel as u8,
            Kind::Control => CONTROL,
        };
        bytes
    }

    /// The header and what follows it; `None` when it is none of ours.
    pub(crate) fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, body) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let (source, kind) = header.split_first_chunk::<4>()?;
        let kind = match kind[0] {
            CONTROL => Kind::Control,
            byte => Kind::Frame(Channel::from_byte(byte)?),
        };
        Some((Self { source: NodeId(u32::from_le_bytes(*source)), kind }, body))
    }
}

/// The bytes of a message of a backend's own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded {
    bytes: [u8; CONTROL_BYTES_MAX],
    len: usize,
}

impl Encoded {
    pub(crate) fn of(control: &impl Serialize) -> Self {
        let mut bytes = [0; CONTROL_BYTES_MAX];
        let len = codec::encode_to_slice(control, &mut bytes)
            .expect("the bound was counted from the longest message");
        Self { bytes, len }
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// A message of a backend's own.
///
/// # Errors
/// What is wrong with it, in words.
pub(crate) fn decode_control<Control: DeserializeOwned>(bytes: &[u8]) -> Result<Control, String> {
    codec::decode(bytes).map_err(|error| error.to_string())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::fmt::Debug;

    /// Checks that messages are read as they were written, and no others.
    pub(crate) fn check_controls<C>(controls: impl IntoIterator<Item = C>)
    where
        C: Serialize + DeserializeOwned + PartialEq + Debug,
    {
        for control in controls {
            let encoded = Encoded::of(&control);
            let bytes = encoded.as_slice();
            assert_eq!(decode_control(bytes), Ok(control));
            assert!(decode_control::<C>(&bytes[..bytes.len() - 1]).is_err());
            assert!(decode_control::<C>(&[bytes, &[0]].concat()).is_err());
        }
        assert!(decode_control::<C>(&[0xff; 30]).is_err());
        assert!(decode_control::<C>(&[]).is_err());
    }

    #[test]
    fn headers_are_read_as_they_were_written() {
        for kind in [Kind::Frame(Channel::Runtime), Kind::Frame(Channel::Emulated), Kind::Control] {
            let header = Header { source: NodeId(9), kind };
            let bytes = [&header.encode()[..], &[1, 2]].concat();
            assert_eq!(Header::decode(&bytes), Some((header, &[1, 2][..])));
            assert_eq!(Header::decode(&bytes[..HEADER_BYTES - 1]), None);
        }
        assert_eq!(Header::decode(&[0xff; HEADER_BYTES]), None);
    }
}
