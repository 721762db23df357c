//! Blocks: pieces of device memory, which go back to their arena when the last share in them is dropped.

use crate::memory::arena::{Arena, Piece};
use crate::memory::span::Span;
use std::sync::Arc;

/// Device memory. Clones and [spans](Block::span) have a share in it, and so has each command of a stream until it is over;
/// the last one gives it back. Dropping it waits for nothing.
///
/// Its bytes are whatever was there before.
#[derive(Debug, Clone)]
pub struct Block(Arc<Piece>);

impl Block {
    pub(crate) fn new(piece: Piece) -> Self {
        Self(Arc::new(piece))
    }

    /// First address, a multiple of 256, as the user's own kernels name it. The host cannot touch it.
    pub fn address(&self) -> u64 {
        self.0.arena().address() + self.0.offset()
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All of it, as commands take it.
    pub fn span(&self) -> Span {
        Span::of_piece(&self.0)
    }

    /// The arena it was cut from, which other processes can map.
    pub fn arena(&self) -> &Arena {
        self.0.arena()
    }

    /// Where in its arena it starts: what a process that has imported the arena finds it by.
    pub fn offset(&self) -> u64 {
        self.0.offset()
    }
}
