//! The safe front: copies between slices, whose bounds are checked once, before the first byte moves.

#![expect(unsafe_code, reason = "bounds are checked here, once, for kernels that check none")]

use super::walked::{gather, scatter};
use crate::value::walk::Walk;
use crate::{LayoutError, Plan, Raw};

/// Copies what `source` holds where the plan's source layout selects to where its target layout selects in `target`.
///
/// # Errors
/// [`LayoutError::OutOfBounds`]; nothing was copied.
pub fn copy(plan: &Plan, source: &[u8], target: &mut [u8]) -> Result<(), LayoutError> {
    plan.check_bounds(source.len() as u64, target.len() as u64)?;
    // SAFETY: both slices hold what their layouts select; one is borrowed exclusively, so they share nothing and nobody else
    // writes either.
    unsafe { plan.run(source.as_ptr(), target.as_mut_ptr()) };
    Ok(())
}

/// Copies what `layout` selects of `buffer` to the start of `stream`.
///
/// ```
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// let layout = chare_layout::Raw::bytes_of(1)?.vector(3, 2, 3)?;
/// let mut stream = [0; 6];
/// chare_layout::pack(&layout, b"ab-cd-ef", &mut stream)?;
/// assert_eq!(&stream, b"abcdef");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`LayoutError::OutOfBounds`], [`LayoutError::TooLong`] for a stream that is too short; nothing was copied.
pub fn pack(layout: &Raw, buffer: &[u8], stream: &mut [u8]) -> Result<(), LayoutError> {
    if layout.bytes() > stream.len() as u64 {
        return Err(LayoutError::TooLong { have: layout.bytes(), room: stream.len() as u64 });
    }
    copy(&Plan::pack(layout)?, buffer, stream)
}

/// Copies all of `stream`, and no more than the layout has, to where `layout` selects in `buffer`; a shorter stream fills a
/// beginning.
///
/// # Errors
/// [`LayoutError::OutOfBounds`], [`LayoutError::TooLong`], and those of [`Raw::check_target`]; nothing was copied.
pub fn unpack(layout: &Raw, stream: &[u8], buffer: &mut [u8]) -> Result<(), LayoutError> {
    copy(&Plan::unpack_beginning(layout, stream.len() as u64)?, stream, buffer)
}

/// Packs `chunk.len()` bytes of the stream from place `at` on.
///
/// # Errors
/// [`LayoutError::OutOfBounds`], [`LayoutError::TooLong`] if the stream ends before; nothing was copied.
pub fn pack_range(layout: &Raw, at: u64, buffer: &[u8], chunk: &mut [u8]) -> Result<(), LayoutError> {
    layout.check_bounds(buffer.len() as u64)?;
    check_range(layout, at, chunk.len())?;
    // SAFETY: the buffer holds what the layout selects, and the chunk as many bytes as are asked for; it is borrowed
    // exclusively.
    unsafe { layout.pack_raw(at, buffer.as_ptr(), chunk.as_mut_ptr(), chunk.len()) };
    Ok(())
}

/// Unpacks a chunk of the stream that starts at place `at`.
///
/// # Errors
/// [`LayoutError::OutOfBounds`], [`LayoutError::TooLong`] if the stream ends before, and those of [`Raw::check_target`];
/// nothing was copied.
pub fn unpack_range(layout: &Raw, at: u64, chunk: &[u8], buffer: &mut [u8]) -> Result<(), LayoutError> {
    layout.check_bounds(buffer.len() as u64)?;
    layout.check_target()?;
    check_range(layout, at, chunk.len())?;
    // SAFETY: the buffer holds what the layout selects and is borrowed exclusively.
    unsafe { layout.unpack_raw(at, chunk.as_ptr(), chunk.len(), buffer.as_mut_ptr()) };
    Ok(())
}

fn check_range(layout: &Raw, at: u64, len: usize) -> Result<(), LayoutError> {
    let end = at.saturating_add(len as u64);
    if end > layout.bytes() {
        return Err(LayoutError::TooLong { have: end, room: layout.bytes() });
    }
    Ok(())
}

impl Raw {
    /// Packs `len` bytes of the stream from place `at` on into memory at `chunk`; fewer where the stream ends.
    ///
    /// # Safety
    /// From `buffer` on, all that this layout selects may be read, and `len` bytes from `chunk` on written; they share no byte,
    /// and nobody else writes them meanwhile.
    pub unsafe fn pack_raw(&self, at: u64, buffer: *const u8, chunk: *mut u8, len: usize) {
        // SAFETY: what is walked is selected; the rest is the caller's promise.
        unsafe { gather(&mut Walk::new(&self.ops, at), buffer, chunk, len as u64) };
    }

    /// Unpacks the `len` bytes at `chunk`, which start at place `at` of the stream; fewer where the stream ends.
    ///
    /// # Safety
    /// `len` bytes from `chunk` on may be read, and from `buffer` on all that this layout selects written; they share no byte,
    /// and nobody else writes or reads the latter meanwhile.
    pub unsafe fn unpack_raw(&self, at: u64, chunk: *const u8, len: usize, buffer: *mut u8) {
        // SAFETY: what is walked is selected; the rest is the caller's promise.
        unsafe { scatter(&mut Walk::new(&self.ops, at), chunk, len as u64, buffer) };
    }
}
