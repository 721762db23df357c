//! Landings: the buffers that transfers fill, and how much of each.

use super::buffer::{BufferMut, Element};
use super::device::PostedDevice;
use super::outgoing::Leaving;
use chare_layout::{Layout, Raw};
use chare_lrts::MemoryMut;
use std::marker::PhantomData;
use std::sync::Arc;

/// A buffer to receive into, and how much of it is to be filled: the whole, its first elements, or what a layout selects,
/// whose packed elements are `P`.
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
pub struct Landing<T: Element, P: Element = T> {
    buffer: BufferMut<T>,
    /// Packed elements.
    len: usize,
    layout: Option<Arc<Raw>>,
    packed: PhantomData<fn() -> P>,
}

impl<T: Element> Landing<T> {
    /// The first `len` elements of a buffer; its tail stays untouched.
    ///
    /// # Panics
    /// If the buffer is shorter than that.
    pub fn first(len: usize, buffer: impl Into<BufferMut<T>>) -> Self {
        let buffer = buffer.into();
        assert!(len <= buffer.len(), "the first {len} elements of a buffer of {}", buffer.len());
        Self { buffer, len, layout: None, packed: PhantomData }
    }
}

impl<T: Element, P: Element> Landing<T, P> {
    /// The elements of a buffer that a layout selects, in the layout's order; the others stay untouched.
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer, or an element twice.
    pub fn at(layout: &Layout<T, P>, buffer: impl Into<BufferMut<T>>) -> Self {
        let buffer = buffer.into();
        let checked = layout.check_bounds(size_of_val::<[T]>(&buffer) as u64);
        checked
            .and_then(|()| layout.check_target())
            .unwrap_or_else(|error| panic!("a layout of a landing: {error}"));
        Self { buffer, len: layout.len(), layout: Some(Arc::clone(layout.raw())), packed: PhantomData }
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

    pub(crate) fn into_posted(self) -> PostedMemory {
        let Self { buffer, len, layout, .. } = self;
        PostedMemory { bytes: len * size_of::<P>(), memory: buffer.into_memory(), layout }
    }
}

impl<T: Element, B: Into<BufferMut<T>>> From<B> for Landing<T> {
    fn from(buffer: B) -> Self {
        let buffer = buffer.into();
        Self { len: buffer.len(), buffer, layout: None, packed: PhantomData }
    }
}

/// A value in which elements `P` of a posted argument land, by itself or as one of several: what becomes a [`BufferMut`] of them, a
/// [`Landing`], or a [`PartMut`](crate::PartMut).
pub trait NocopyLanding<P: Element> {
    /// The elements of the buffer.
    type Buffer: Element;

    /// Forgets the element types.
    #[doc(hidden)]
    fn erase(self) -> PostedMemory;
}

impl<P: Element, B: Into<BufferMut<P>>> NocopyLanding<P> for B {
    type Buffer = P;

    fn erase(self) -> PostedMemory {
        Landing::<P>::from(self).into_posted()
    }
}

impl<T: Element, P: Element> NocopyLanding<P> for Landing<T, P> {
    type Buffer = T;

    fn erase(self) -> PostedMemory {
        self.into_posted()
    }
}

/// A posted buffer and how many bytes of it are to be filled, or are, no more than the sender offers: its first ones, or those that a layout
/// of as many bytes selects.
pub struct PostedMemory {
    pub(crate) memory: MemoryMut,
    pub(crate) bytes: usize,
    pub(crate) layout: Option<Arc<Raw>>,
}

impl PostedMemory {
    /// Whether what is filled lies in several places.
    #[inline]
    pub(crate) fn is_scattered(&self) -> bool {
        self.layout.as_ref().is_some_and(|layout| !layout.is_contiguous())
    }

    /// What arrived in it, for a chare that lives elsewhere.
    pub(super) fn into_leaving(self) -> Leaving {
        let Self { memory, bytes, layout } = self;
        let memory = memory.freeze();
        let memory = if layout.is_none() { memory.slice(0, bytes) } else { memory };
        Leaving { layout, ..Leaving::plain(memory, None) }
    }
}

/// What a post method gave for one argument.
pub(crate) enum Given {
    Host(PostedMemory),
    Device(PostedDevice),
}

impl From<PostedMemory> for Given {
    fn from(memory: PostedMemory) -> Self {
        Self::Host(memory)
    }
}

impl From<PostedDevice> for Given {
    fn from(buffer: PostedDevice) -> Self {
        Self::Device(buffer)
    }
}
