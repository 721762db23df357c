//! Pieces of arenas, which go back when they are dropped.

use crate::memory::arena::Arena;
use offset_allocator::Allocation;
use std::fmt;

/// A piece of an arena, its own until it is dropped.
pub(crate) struct Piece {
    arena: Arena,
    offset: u64,
    len: u64,
    allocation: Allocation,
}

impl Piece {
    /// Cuts `len` bytes that nobody else has from an arena, if it has room.
    pub(crate) fn cut(arena: &Arena, len: u64) -> Option<Self> {
        let (offset, allocation) = arena.cut(len)?;
        Some(Self { arena: arena.clone(), offset, len, allocation })
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} bytes from {} on of {:?}", self.len, self.offset, self.arena)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.arena.free(self.allocation);
    }
}
