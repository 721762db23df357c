//! Codec: values to bytes and back, in the one format of everything that leaves a process. Knows no network and no region.
//!
//! 1. Integers and floats have their own width and are little endian; `usize` and `isize` have eight bytes. A `bool` or
//!    the mark of an `Option` is one byte, a variant's number and a `char` are four.
//! 2. Texts, bytes, sequences and maps begin with their count in eight bytes. Fields and elements follow each other without
//!    names, types or padding: both sides know the type.
//! 3. What has no contents (`()`, an empty struct) is one zero byte. So every value takes at least one byte, and a count
//!    is checked against the bytes that are left before anything is allocated or repeated for it.
//! 4. Values nest at most [`DEPTH_MAX`] deep, so that no message overflows the stack of its reader.
//! 5. Runs of numbers in memory already look as they do on the wire (on 64-bit little-endian machines). A vector or slice of
//!    them is one copy, wherever it is inside a value: `bulk` recognises it. Other machines go element by element, to the same bytes.
//! 6. [`Memory`] inside a value may travel beside it instead: [`encode_lending`] and `lend`. Bytes that lie scattered are gathered in their
//!    place: `filling`.
//!
//! Bytes are an allegation: decoding returns errors and never panics, and takes no more memory than a constant of the type
//! times the bytes.

mod bulk;
mod decode;
mod encode;
mod fault;
mod filling;
mod lend;
mod writer;

pub use bulk::copy_elements;
pub use fault::{CodecError, DEPTH_MAX};
pub use filling::{Fill, FilledBytes};
pub use lend::{LendableBytes, LentBytes};
pub use writer::{Writer, append, append_up_to, fill};

use crate::memory::Memory;
use decode::Decoder;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Appends the encoding of `value`: in the room that `out` has, else after growing it once to what is needed.
///
/// # Errors
/// When the type's serialization refuses, or the value nests too deep. `out` is as before then.
///
/// ```
/// use chare_lrts::codec;
/// let mut bytes = Vec::new();
/// codec::encode_into(&(7u16, vec![1.5f64]), &mut bytes)?;
/// assert_eq!(bytes.len(), 2 + 8 + 8);
/// assert_eq!(codec::decode::<(u16, Vec<f64>)>(&bytes)?, (7, vec![1.5]));
/// # Ok::<(), codec::CodecError>(())
/// ```
pub fn encode_into<T: Serialize + ?Sized>(value: &T, out: &mut Vec<u8>) -> Result<(), CodecError> {
    append(out, |writer| writer.write(value))
}

/// Writes the encoding of `value` to the front of `room` and returns how long it is. If that is more than the
/// room, the room holds no encoding.
///
/// # Errors
/// As [`encode_into`].
///
/// ```
/// use chare_lrts::codec;
/// let mut room = [0; 4];
/// assert_eq!(codec::encode_to_slice(&7u32, &mut room)?, 4);
/// assert_eq!(room, [7, 0, 0, 0]);
/// assert_eq!(codec::encode_to_slice("too long", &mut room)?, 8 + 8);
/// # Ok::<(), codec::CodecError>(())
/// ```
pub fn encode_to_slice<T: Serialize + ?Sized>(value: &T, room: &mut [u8]) -> Result<usize, CodecError> {
    fill(room, |writer| writer.write(value))
}

/// Encodes `value` without the [`Memory`] of at least `threshold_bytes` in it: such memory is shared, not copied, and comes
/// back beside the bytes.
///
/// # Errors
/// As [`encode_into`].
///
/// ```
/// use chare_lrts::codec::{self, LendableBytes, LentBytes};
/// use chare_lrts::MemoryMut;
/// let memory = MemoryMut::from_vec(vec![7; 1000]).freeze();
/// let (bytes, lent) = codec::encode_lending(&("large", LendableBytes(&memory)), 1000)?;
/// assert_eq!(lent[0].address(), memory.address());
/// # Ok::<(), codec::CodecError>(())
/// ```
pub fn encode_lending<T: Serialize + ?Sized>(
    value: &T,
    threshold_bytes: usize,
) -> Result<(Vec<u8>, Vec<Memory>), CodecError> {
    let (mut bytes, mut lent) = (Vec::new(), Vec::new());
    append(&mut bytes, |writer| {
        lent = writer.write_lending(value, threshold_bytes)?;
        Ok(())
    })?;
    Ok((bytes, lent))
}

/// Decodes one value from the front of `bytes`; returns it and what follows it.
///
/// # Errors
/// When the bytes are no such value.
pub fn decode_front<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8]), CodecError> {
    let mut decoder = Decoder::new(bytes);
    let value = T::deserialize(&mut decoder).map_err(|fault| CodecError::decode::<T>(bytes, fault))?;
    Ok((value, decoder.rest()))
}

/// Decodes one value from the front of `bytes`, which are what follows it then.
///
/// # Errors
/// When the bytes are no such value. They are as before then.
///
/// ```
/// use chare_lrts::codec;
/// let mut written = Vec::new();
/// codec::encode_into(&7u16, &mut written)?;
/// codec::encode_into("seven", &mut written)?;
/// let mut bytes = &written[..];
/// assert_eq!(codec::decode_next::<u16>(&mut bytes)?, 7);
/// assert_eq!(codec::decode_next::<String>(&mut bytes)?, "seven");
/// assert!(bytes.is_empty());
/// # Ok::<(), codec::CodecError>(())
/// ```
pub fn decode_next<T: DeserializeOwned>(bytes: &mut &[u8]) -> Result<T, CodecError> {
    let (value, rest) = decode_front(bytes)?;
    *bytes = rest;
    Ok(value)
}

/// Decodes a value that takes up all of `bytes`.
///
/// # Errors
/// When the bytes are no such value, or more than one.
pub fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, CodecError> {
    decode_all(bytes, Decoder::new(bytes))
}

/// Decodes what [`encode_lending`] made: the value takes up all of `bytes`, and each of the `lent` memories has its place in it.
///
/// # Errors
/// When the bytes are no such value, or more than one, or name other memories than those.
pub fn decode_lent<T: DeserializeOwned>(bytes: &[u8], lent: Vec<Memory>) -> Result<T, CodecError> {
    decode_all(bytes, Decoder::with(bytes, lent))
}

fn decode_all<'de, T: DeserializeOwned>(
    bytes: &'de [u8],
    mut decoder: Decoder<'de>,
) -> Result<T, CodecError> {
    T::deserialize(&mut decoder)
        .and_then(|value| decoder.finish().map(|()| value))
        .map_err(|fault| CodecError::decode::<T>(bytes, fault))
}
