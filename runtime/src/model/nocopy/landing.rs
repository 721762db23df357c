//! Landings: the buffers that transfers fill, and how much of each.

use super::buffer::{BufferMut, Element};
use chare_layout::{Layout, Raw};
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// A buffer to receive into, and how much of it is to be filled: the whole, its first elements, or what a layout selects.
///
/// ```
/// # use chare::Landing;
/// # use chare::layout::Layout;
/// # fn main() -> Result<(), chare::layout::LayoutError> {
/// let whole: Landing<f64> = vec![0.0; 100].into();
/// let part = Landing::first(10, vec![0.0; 100]);
/// let column = Landing::at(&Layout::vector(10, 1, 10)?, vec![0.0; 100]);
/// assert_eq!((whole.len(), part.len(), column.len()), (100, 10, 10));
/// # Ok(())
/// # }
/// ```
pub struct Landing<T: Element> {
    buffer: BufferMut<T>,
    len: usize,
    layout: Option<Arc<Raw>>,
}

impl<T: Element> Landing<T> {
    /// The first `len` elements of a buffer; its tail stays untouched.
    ///
    /// # Panics
    /// If the buffer is shorter than that.
    pub fn first(len: usize, buffer: impl Into<BufferMut<T>>) -> Self {
        let buffer = buffer.into();
        assert!(len <= buffer.len(), "the first {len} elements of a buffer of {}", buffer.len());
        Self { buffer, len, layout: None }
    }

    /// The elements of a buffer that a layout selects, in the layout's order; the others stay untouched.
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer, or an element twice.
    pub fn at(layout: &Layout<T>, buffer: impl Into<BufferMut<T>>) -> Self {
        let buffer = buffer.into();
        let checked = layout.check_bounds(size_of_val::<[T]>(&buffer) as u64);
        checked
            .and_then(|()| layout.check_target())
            .unwrap_or_else(|error| panic!("a layout of a landing: {error}"));
        Self { buffer, len: layout.len(), layout: Some(Arc::clone(layout.raw())) }
    }

    /// How many elements are to be filled.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The whole buffer.
    pub fn into_buffer(self) -> BufferMut<T> {
        self.buffer
    }

    pub(crate) fn erase(self) -> PostedMemory {
        let Self { buffer, len, layout } = self;
        PostedMemory { bytes: len * size_of::<T>(), memory: buffer.into_memory(), layout }
    }
}

impl<T: Element, B: Into<BufferMut<T>>> From<B> for Landing<T> {
    fn from(buffer: B) -> Self {
        let buffer = buffer.into();
        Self { len: buffer.len(), buffer, layout: None }
    }
}

/// A posted buffer and how many bytes of it are to be filled, no more than the sender offers: its first ones, or those that a layout of as
/// many bytes selects.
pub(crate) struct PostedMemory {
    pub(crate) memory: MemoryMut,
    pub(crate) bytes: usize,
    pub(crate) layout: Option<Arc<Raw>>,
}
