//! Cursors: a place in a packed stream, from which packing or unpacking goes on.

use crate::kernels::front::{pack_range, unpack_range};
use crate::{LayoutError, Raw};
use std::sync::Arc;

/// A place in the packed stream of a layout: what is kept between two chunks of a transfer.
///
/// It is a number beside a layout: it owns no buffer, can be copied, sent back to an earlier place, and costs nothing to keep.
/// Each chunk finds its place anew, in as many steps as the layout is deep.
///
/// ```
/// use std::sync::Arc;
/// use chare_layout::{Cursor, Raw};
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// let layout = Arc::new(Raw::bytes_of(2)?.vector(3, 1, 2)?);
/// let mut cursor = Cursor::new(layout);
/// let mut chunk = [0; 4];
/// assert_eq!(cursor.pack(b"ab--cd--ef", &mut chunk)?, 4);
/// assert_eq!(&chunk, b"abcd");
/// assert_eq!(cursor.pack(b"ab--cd--ef", &mut chunk)?, 2);
/// assert_eq!(&chunk[..2], b"ef");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Cursor {
    layout: Arc<Raw>,
    at: u64,
}

impl Cursor {
    /// At the start of the stream.
    pub fn new(layout: Arc<Raw>) -> Self {
        Self { layout, at: 0 }
    }

    /// At a place of the stream.
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] behind its end.
    pub fn seek(&mut self, at: u64) -> Result<(), LayoutError> {
        if at > self.layout.bytes() {
            return Err(LayoutError::TooLong { have: at, room: self.layout.bytes() });
        }
        self.at = at;
        Ok(())
    }

    /// Bytes of the stream before this place.
    pub fn at(&self) -> u64 {
        self.at
    }

    /// Bytes of the stream behind it.
    pub fn left(&self) -> u64 {
        self.layout.bytes() - self.at
    }

    /// Its layout.
    pub fn layout(&self) -> &Arc<Raw> {
        &self.layout
    }

    /// Packs on, from `buffer` into `chunk`; returns how many bytes that were: the chunk's, or what was left.
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`]; nothing was packed.
    pub fn pack(&mut self, buffer: &[u8], chunk: &mut [u8]) -> Result<usize, LayoutError> {
        let len = self.next_len(chunk.len());
        pack_range(&self.layout, self.at, buffer, &mut chunk[..len])?;
        self.at += len as u64;
        Ok(len)
    }

    /// Unpacks on, from `chunk` into `buffer`; returns how many bytes that were: the chunk's, or what was left.
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`] and those of [`Raw::check_target`]; nothing was written.
    pub fn unpack(&mut self, chunk: &[u8], buffer: &mut [u8]) -> Result<usize, LayoutError> {
        let len = self.next_len(chunk.len());
        unpack_range(&self.layout, self.at, &chunk[..len], buffer)?;
        self.at += len as u64;
        Ok(len)
    }

    fn next_len(&self, most: usize) -> usize {
        usize::try_from(self.left()).map_or(most, |left| left.min(most))
    }
}
