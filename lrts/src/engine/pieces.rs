//! Piecewise copies: copies that are no range of bytes, such as from layout to layout, cut by whoever knows how.

#![expect(unsafe_code, reason = "a trait whose callers promise to copy each piece once")]

use crate::error::TransferError;

/// A copy in pieces, which threads carry out at the same time and in any order. It owns what it reads and writes.
///
/// The pieces of one copy write no byte that another one of them reads or writes. They should be about
/// [`PIECE_BYTES`](crate::reach::PIECE_BYTES) long: a thread copies one or a few, then looks for messages.
pub trait PiecewiseCopy: Send + Sync {
    /// How many pieces there are.
    fn len(&self) -> usize;

    /// Whether there is none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a piece.
    fn bytes(&self, piece: usize) -> usize;

    /// Whether another process copies, too, what this one has not begun: threads here take other copies first.
    fn is_shared(&self) -> bool {
        false
    }

    /// Whether another process makes the copy without this one, only later: threads that have nothing else to do copy pieces of it, and the one
    /// that posted it does not.
    fn is_help(&self) -> bool {
        false
    }

    /// Whether all that is left is copied by others. A piece costs next to nothing then, and a thread takes all that are left at once.
    fn is_left_to_others(&self) -> bool {
        false
    }

    /// Copies a piece.
    ///
    /// # Errors
    /// Why it cannot be copied: the copy ends with that, and some of the other pieces may not be copied any more.
    ///
    /// # Safety
    /// It is called at most once for each piece, of those that there are.
    unsafe fn copy(&self, piece: usize) -> Result<(), TransferError>;
}
