//! Selections of buffers: the elements of a buffer that a layout names, for a put.

use super::buffer::{Buffer, Element};
use chare_layout::{Layout, Raw};
use std::fmt;
use std::sync::Arc;

/// A buffer, and what a layout selects of it: see [`Buffer::only`]. A [`Buffer`], or what becomes one, is one, too, of all its elements.
pub struct BufferSelection<T: Element> {
    pub(crate) buffer: Buffer<T>,
    pub(crate) layout: Option<Arc<Raw>>,
}

impl<T: Element> Buffer<T> {
    /// What a layout selects of the buffer, for a put in the layout's order. A selection whose elements do not lie side by side is packed
    /// into memory of the runtime first: one copy, at once.
    ///
    /// ```
    /// use chare::layout::Dims;
    /// use chare::{Buffer, Layout, RegisteredTarget, rput};
    ///
    /// let code = chare::Job::in_process(1, 1).run(|| async {
    ///     let (column, row): (Layout<u8>, Layout<u8>) =
    ///         (Dims::new([3, 2]).select((.., 1)), Dims::new([2, 3]).select((1, ..)));
    ///     let target = RegisteredTarget::register(vec![0; 6]);
    ///     let values = Buffer::from(vec![1, 2, 3, 4, 5, 6]);
    ///     let (written, done) = chare::future::<Buffer<u8>>();
    ///     rput(values.only(&column), &target.handle().only(&row), done).expect("it is as long");
    ///     assert_eq!(written.await.len(), 6, "the whole buffer comes back");
    ///     assert!(target.read(|values| values == [0, 0, 0, 2, 4, 6]).expect("no put is under way"));
    /// });
    /// assert_eq!(code.unwrap(), 0);
    /// ```
    ///
    /// # Panics
    /// If the layout selects what lies outside the buffer.
    pub fn only(self, layout: &Layout<T>) -> BufferSelection<T> {
        let checked = layout.check_bounds(self.memory().len() as u64);
        checked.unwrap_or_else(|error| panic!("a layout of a buffer: {error}"));
        BufferSelection { buffer: self, layout: Some(Arc::clone(layout.raw())) }
    }
}

impl<T: Element> BufferSelection<T> {
    /// How many elements are selected.
    pub fn len(&self) -> usize {
        let selected = |layout: &Arc<Raw>| layout.bytes() as usize / size_of::<T>();
        self.layout.as_ref().map_or(self.buffer.len(), selected)
    }

    /// Whether none are.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T: Element, B: Into<Buffer<T>>> From<B> for BufferSelection<T> {
    fn from(buffer: B) -> Self {
        Self { buffer: buffer.into(), layout: None }
    }
}

impl<T: Element> fmt::Debug for BufferSelection<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "BufferSelection({} of {} elements)", self.len(), self.buffer.len())
    }
}
