//! A frame: the bounded, owned run of bytes that one node sends to another.

/// Who reads a frame on the other side.
///
/// Every backend carries the channel in its own frame header, so that [`crate::emulated`] and the
/// runtime share one connection without either copying the other's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Channel {
    /// Frames of the runtime above LRTS.
    Runtime = 0,
    /// Frames of get and put made of send.
    Emulated = 1,
}

impl Channel {
    /// The channel a header byte names, if it names one.
    pub fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Runtime),
            1 => Some(Self::Emulated),
            _ => None,
        }
    }
}

/// A message on its way out. Owned: a backend may keep it until the wire takes it.
///
/// At most [`Capabilities::frame_bytes_max`](crate::Capabilities::frame_bytes_max) bytes long;
/// larger data travel by get.
#[derive(Debug, PartialEq, Eq)]
pub struct Frame {
    /// Who reads it.
    pub channel: Channel,
    /// What it says.
    pub bytes: Vec<u8>,
}

impl Frame {
    /// A frame for the runtime above.
    pub fn runtime(bytes: Vec<u8>) -> Self {
        Self { channel: Channel::Runtime, bytes }
    }
}
