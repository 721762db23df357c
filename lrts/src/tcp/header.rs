//! Header of a frame on a connection: its length and its channel.
//!
//! Five bytes: the body's length (u32, little-endian), then the channel, or [`GOODBYE`] with length 0.

use crate::frame::Channel;

/// The longest frame. Measured over loopback, bandwidth no longer grows from 128 KiB on (0.7 GB/s at 4 KiB, 5 at
/// 64 KiB, 6 from 128 KiB to 1 MiB); the rest is room for messages that are not worth a rendezvous.
pub(super) const FRAME_BYTES_MAX: usize = 1 << 20;

/// Bytes of a header.
pub(super) const HEADER_BYTES: usize = 5;

/// In the channel's place: the sender's last word.
const GOODBYE: u8 = u8::MAX;

/// Announcement of a frame, or of the connection's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Header {
    Frame { channel: Channel, len: usize },
    Goodbye,
}

impl Header {
    /// # Panics
    /// If the frame is longer than a frame may be; the caller checked.
    pub(super) fn encode(self) -> [u8; HEADER_BYTES] {
        let (len, kind) = match self {
            Self::Frame { channel, len } => (len, channel as u8),
            Self::Goodbye => (0, GOODBYE),
        };
        assert!(len <= FRAME_BYTES_MAX, "frame of {len} bytes");
        let [a, b, c, d] = (len as u32).to_le_bytes();
        [a, b, c, d, kind]
    }

    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn decode([a, b, c, d, kind]: [u8; HEADER_BYTES]) -> Result<Self, String> {
        let len = u32::from_le_bytes([a, b, c, d]) as usize;
        if len > FRAME_BYTES_MAX {
            return Err(format!("a frame of {len} bytes; at most {FRAME_BYTES_MAX} are allowed"));
        }
        match (Channel::from_byte(kind), kind, len) {
            (Some(channel), ..) => Ok(Self::Frame { channel, len }),
            (None, GOODBYE, 0) => Ok(Self::Goodbye),
            _ => Err(format!("a frame of {len} bytes for channel {kind}, which does not exist")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        for header in [
            Header::Frame { channel: Channel::Runtime, len: 0 },
            Header::Frame { channel: Channel::Emulated, len: FRAME_BYTES_MAX },
            Header::Goodbye,
        ] {
            assert_eq!(Header::decode(header.encode()), Ok(header));
        }
    }

    #[test]
    fn lies_are_errors() {
        let [a, b, c, d] = (FRAME_BYTES_MAX as u32 + 1).to_le_bytes();
        assert!(Header::decode([a, b, c, d, 0]).is_err());
        assert!(Header::decode([0xff; HEADER_BYTES]).is_err());
        assert!(Header::decode([1, 0, 0, 0, GOODBYE]).is_err());
        assert!(Header::decode([0, 0, 0, 0, 2]).is_err());
    }
}
