//! Divided memory: memory to which two processes copy together, each the pieces that it has taken.
//!
//! The [`division`](super::division) says which; here it stands beside the bytes, at either end. A piece is taken and written in one step
//! of its end's, so that nobody holds one for longer than its copy takes.

#![expect(unsafe_code, reason = "moves an address between threads")]

use super::board::Board;
use std::sync::Arc;

/// Takes pieces of a copy at one of its ends.
pub(crate) trait TakePieces: Send + Sync {
    /// The next piece for this end. Its bytes stay where they are until it is written.
    fn take(&self) -> Option<u32>;

    /// Notes that a piece that was taken is written.
    fn note_written(&self);

    /// Whether none is left.
    fn is_over(&self) -> bool;
}

/// Memory that is written piece by piece, by its owner and by a process that helps. While it lives, its bytes stay where they are at its
/// owner, and at the helper while it writes a piece; which of them may be written, the pieces that were taken say.
pub struct Divided {
    address: *mut u8,
    len: usize,
    /// At the helper what keeps the bytes mapped, too, and its claim while it writes.
    pieces: Box<dyn TakePieces>,
}

// SAFETY: an address that stays valid while the value lives, and what takes pieces, which is `Send` and `Sync`; what may be done with
// the bytes is argued where it is done.
unsafe impl Send for Divided {}
// SAFETY: as above: `&Divided` gives out the address, and pieces one by one.
unsafe impl Sync for Divided {}

impl Divided {
    pub(crate) fn new(address: *mut u8, len: usize, pieces: impl TakePieces + 'static) -> Self {
        Self { address, len, pieces: Box::new(pieces) }
    }

    /// Its first byte.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Its length in bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes the next piece and has `write` write it; the other end takes others. The number is an allegation. `None`: no piece is left.
    ///
    /// # Errors
    /// Those of `write`. A piece that it refused, or in which it panicked, is never taken for written by the owner.
    pub fn write_next<E>(&self, write: impl FnOnce(u32) -> Result<(), E>) -> Option<Result<(), E>> {
        let piece = self.pieces.take()?;
        let written = write(piece);
        if written.is_ok() {
            self.pieces.note_written();
        }
        Some(written)
    }

    /// Whether all pieces have been taken.
    pub fn is_over(&self) -> bool {
        self.pieces.is_over()
    }
}

/// The end of the memory's owner.
pub(super) struct OwnPieces {
    pub(super) board: Arc<Board>,
    pub(super) slot: u32,
}

impl TakePieces for OwnPieces {
    fn take(&self) -> Option<u32> {
        self.board.division(self.slot)?.take_front()
    }

    fn note_written(&self) {}

    fn is_over(&self) -> bool {
        self.board.division(self.slot).is_none_or(|division| division.is_over())
    }
}
