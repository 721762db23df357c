//! Whole of a split buffer: the memory, and what the parts of it are.

use crate::model::nocopy::buffer::{BufferMut, Element};
use chare_layout::Raw;
use chare_lrts::MemoryMut;
use std::sync::Arc;

/// The whole of a buffer that was split.
pub(super) struct Whole {
    pub(super) memory: MemoryMut,
    pub(super) parts: Box<[Arc<Raw>]>,
}

/// The buffer that was split.
pub(super) fn typed<T: Element>(memory: MemoryMut) -> BufferMut<T> {
    BufferMut::from_memory(memory).unwrap_or_else(|_| unreachable!("it was such a buffer"))
}
