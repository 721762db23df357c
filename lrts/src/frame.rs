//! Frame: the bounded run of bytes that one node sends to another.

/// Reader of a frame on the other side.
///
/// Every backend carries the channel in its own frame header, so that [`crate::emulated`] and the
/// runtime share one connection without either copying the other's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Channel {
    /// Frames of the runtime above LRTS: those of one thread to one node arrive in their order, those of several threads in any.
    Runtime = 0,
    /// Frames of get and put made of send. All frames of one node to another arrive in the order in which `send` accepted them, whichever
    /// threads called it: a transfer's chunks leave from whoever makes progress, one at a time.
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

/// A message on its way out, in two parts that arrive as one, so that a header need not be copied together with what it
/// announces. Borrowed: a backend that cannot pass it on at once copies what is left.
///
/// At most [`Capabilities::frame_bytes_max`](crate::Capabilities::frame_bytes_max) bytes long;
/// larger data travel by get.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// Its reader.
    pub channel: Channel,
    /// The bytes that come first.
    pub head: &'a [u8],
    /// The bytes that follow.
    pub body: &'a [u8],
}

impl<'a> Frame<'a> {
    /// A frame for the runtime above, in one part.
    pub fn runtime(bytes: &'a [u8]) -> Self {
        Self { channel: Channel::Runtime, head: bytes, body: &[] }
    }

    /// Bytes of both parts.
    pub fn len(&self) -> usize {
        self.head.len() + self.body.len()
    }

    /// Whether it has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Both parts together, for a backend that has to keep them.
    pub fn to_vec(&self) -> Vec<u8> {
        [self.head, self.body].concat()
    }
}
