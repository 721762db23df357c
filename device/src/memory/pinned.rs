//! Pinned memory: host memory that devices copy from and to, whose bytes the host sees while no command has a share in them.

#![expect(unsafe_code, reason = "shows bytes of pinned memory while nobody else has a share in it")]

use crate::memory::arena::Piece;
use crate::memory::span::Span;
use std::sync::Arc;

/// Host memory for staging, from a bounded pool. Dropping it waits for nothing, as with a [`Block`](crate::Block).
#[derive(Debug)]
pub struct Pinned(Arc<Piece>);

impl Pinned {
    pub(crate) fn new(piece: Piece) -> Self {
        Self(Arc::new(piece))
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

    /// Its bytes; none while a span of it is held, or a command that names it is not over. A command is over, at the latest, when
    /// [`is_complete`](crate::Event::is_complete) has said so of an event recorded behind it. New memory has whatever bytes were there
    /// before.
    pub fn bytes(&mut self) -> Option<&mut [u8]> {
        let piece = Arc::get_mut(&mut self.0)?;
        let address = (piece.arena().address() + piece.offset()) as *mut u8;
        // SAFETY: the piece lies in an arena of the host, which stays mapped, readable and writable as long as the piece, and came
        // initialised (zero) from the system. Nobody else has a share in the piece, so no command names it, and none can while the
        // slice borrows this one; the count that says so was released by whoever used the bytes last.
        Some(unsafe { std::slice::from_raw_parts_mut(address, piece.len() as usize) })
    }
}
