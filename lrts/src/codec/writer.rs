//! Writer: several values as one encoding, into the room there is or into room of the right size.

#![expect(unsafe_code, reason = "counts the bytes that an encoder has initialised into a vector")]

use super::bulk::as_room;
use super::encode::Encoder;
use super::fault::{CodecError, FaultKind};
use super::filling::Fill;
use super::lend::Lending;
use crate::memory::Memory;
use crate::memory::huge::{HUGE_BYTES_MIN, ask_for_huge_pages};
use serde::Serialize;
use std::mem::MaybeUninit;

/// Writes values one after the other. What has no room is counted: see [`fill`].
pub struct Writer<'room>(Encoder<'room>);

impl Writer<'_> {
    /// Writes a value.
    ///
    /// # Errors
    /// When the type's serialization refuses, or the value nests too deep.
    pub fn write<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), CodecError> {
        value.serialize(&mut self.0).map_err(|fault| CodecError::encode::<T>(fault))
    }

    /// Writes bytes that are encodings already, as they are.
    pub fn write_encoded(&mut self, bytes: &[u8]) {
        self.0.write(bytes);
    }

    /// Writes the number of some bytes, and has them written where they belong: what decodes as bytes.
    pub fn write_filled(&mut self, filling: &dyn Fill) {
        self.0.write_filled(filling);
    }

    pub(super) fn write_lending<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        threshold_bytes: usize,
    ) -> Result<Vec<Memory>, CodecError> {
        self.0.lend(Lending::new(threshold_bytes));
        self.write(value)?;
        Ok(self.0.take_lent())
    }
}

/// Appends what `write` writes: into the room that `out` has, else, by a second call, after growing it once to what is needed.
///
/// # Errors
/// When `write` refuses, or does not write the same the second time. `out` is as before then.
///
/// ```
/// use chare_lrts::codec;
/// let mut bytes = Vec::new();
/// codec::append(&mut bytes, |writer| {
///     writer.write(&7u8)?;
///     writer.write("seven")
/// })?;
/// assert_eq!(codec::decode::<(u8, String)>(&bytes)?, (7, "seven".to_owned()));
/// # Ok::<(), codec::CodecError>(())
/// ```
pub fn append(
    out: &mut Vec<u8>,
    write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    append_up_to(out, usize::MAX, write).map(|_| ())
}

/// As [`append`], but appends nothing that is longer than `bytes_max`. Returns the length either way.
///
/// # Errors
/// As [`append`].
pub fn append_up_to(
    out: &mut Vec<u8>,
    bytes_max: usize,
    mut write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<usize, CodecError> {
    append_encoder(out, bytes_max, |room| {
        let mut writer = Writer(Encoder::new(room));
        write(&mut writer)?;
        Ok(writer.0)
    })?
    .map_err(|(before, after)| CodecError::encode::<[u8]>(FaultKind::Unsteady { before, after }.into()))
}

/// Writes to the front of `room` and returns how long the encoding is. If that is more than the room, the room holds
/// no encoding.
///
/// # Errors
/// When `write` refuses.
pub fn fill(
    room: &mut [u8],
    write: impl FnOnce(&mut Writer<'_>) -> Result<(), CodecError>,
) -> Result<usize, CodecError> {
    let mut writer = Writer(Encoder::new(as_room(room)));
    write(&mut writer)?;
    Ok(writer.0.len())
}

/// Appends what `write` writes, unless it is longer than `bytes_max`: into the room `out` has, else after making as much as it needs.
/// Returns the length; the two lengths, if the second call of `write` needed another than the first.
fn append_encoder<E>(
    out: &mut Vec<u8>,
    bytes_max: usize,
    mut write: impl for<'r> FnMut(&'r mut [MaybeUninit<u8>]) -> Result<Encoder<'r>, E>,
) -> Result<Result<usize, (usize, usize)>, E> {
    let mut expected = None;
    loop {
        let written = write(out.spare_capacity_mut())?;
        let len = written.len();
        if expected.is_some_and(|expected| expected != len) {
            return Ok(Err((expected.unwrap_or(0), len)));
        }
        if len > bytes_max {
            return Ok(Ok(len));
        }
        if written.written().is_some() {
            // SAFETY: the encoder says that its room, the spare capacity, begins with so many initialised bytes.
            unsafe { out.set_len(out.len() + len) };
            return Ok(Ok(len));
        }
        out.reserve(len);
        if len >= HUGE_BYTES_MIN {
            ask_for_huge_pages(out.spare_capacity_mut());
        }
        expected = Some(len);
    }
}
