//! Filling: bytes inside a value that write themselves, straight to their place in the encoding.
//!
//! What lies scattered in memory is gathered where it travels, and not to another place first. In any other format the bytes are gathered
//! and copied. Either way they decode as [`LentBytes`](super::LentBytes), or as bytes.

use serde::{Serialize, Serializer};
use std::mem::MaybeUninit;

/// The name under which the encoder recognises the newtype around what fills.
const NAME: &str = "Filling";

/// A value that is some bytes, once they are written.
pub trait Fill {
    /// How many bytes.
    fn bytes(&self) -> usize;

    /// Writes the bytes to `room`, which has room for exactly them; returns all of it. May be called several times, or never.
    fn fill<'room>(&self, room: &'room mut [MaybeUninit<u8>]) -> &'room mut [u8];
}

/// Serialized form of what fills.
///
/// ```
/// use chare_lrts::codec::{self, Fill, FilledBytes};
/// use std::mem::MaybeUninit;
///
/// /// The same byte twice.
/// struct Twice(u8);
///
/// impl Fill for Twice {
///     fn bytes(&self) -> usize {
///         2
///     }
///
///     fn fill<'room>(&self, room: &'room mut [MaybeUninit<u8>]) -> &'room mut [u8] {
///         room.write_copy_of_slice(&[self.0; 2])
///     }
/// }
///
/// let mut bytes = Vec::new();
/// codec::encode_into(&FilledBytes(&Twice(7)), &mut bytes)?;
/// assert_eq!(codec::decode::<(u64, [u8; 2])>(&bytes)?, (2, [7, 7]));
/// # Ok::<(), codec::CodecError>(())
/// ```
pub struct FilledBytes<'a>(
    /// What fills.
    pub &'a dyn Fill,
);

/// Mark of what fills for the encoder, behind the newtype's name: never seen outside this module's parent.
pub(super) struct Filling<'a>(pub(super) &'a dyn Fill);

impl Serialize for FilledBytes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(NAME, &Filling(self.0))
    }
}

impl Serialize for Filling<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut bytes = vec![MaybeUninit::uninit(); self.0.bytes()];
        serializer.serialize_bytes(self.0.fill(&mut bytes))
    }
}
