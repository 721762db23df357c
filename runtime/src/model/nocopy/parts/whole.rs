//! Whole of a split buffer: the memory, and what the parts of it are.

use crate::model::nocopy::buffer::{BufferMut, Element};
use chare_layout::{Layout, LayoutError, Raw};
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// The whole of a buffer that was split.
pub(super) struct Whole {
    pub(super) memory: MemoryMut,
    pub(super) parts: Box<[Arc<Raw>]>,
}

impl Whole {
    /// Whether a layout selects nothing of any part but this one. What no part selects is written only by whoever has all parts
    /// exclusively.
    ///
    /// # Errors
    /// A layout that selects what lies outside the buffer, what belongs to another part, or an element twice.
    pub(super) fn check_within<T>(&self, number: usize, layout: &Layout<T>) -> Result<(), LayoutError> {
        check_whole::<T>(layout)?;
        layout.check_bounds(self.memory.len() as u64)?;
        let others = self.parts.iter().enumerate().filter(|(other, _)| *other != number);
        for (_, other) in others {
            layout.raw().then(other)?.check_target()?;
        }
        Ok(())
    }
}

/// # Errors
/// A layout that selects pieces of elements.
pub(super) fn check_whole<T>(layout: &Layout<T>) -> Result<(), LayoutError> {
    let (grain, element) = (layout.grain(), size_of::<T>() as u64);
    if grain.is_multiple_of(element) { Ok(()) } else { Err(LayoutError::NotWhole { grain, element }) }
}

/// The buffer that was split.
pub(super) fn typed<T: Element>(memory: MemoryMut) -> BufferMut<T> {
    BufferMut::from_memory(memory).unwrap_or_else(|_| unreachable!("it was such a buffer"))
}
