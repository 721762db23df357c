//! Division: which pieces of a copy have been taken, by the owner of the memory that is written from the front, by a process that helps
//! from the back.
//!
//! One [`DivisionWord`] per region, in memory that every process of the host maps. Rules:
//!
//! 1. The owner of the region writes the word when the region is live and nobody knows its key yet.
//! 2. Whoever wants a piece takes it by one atomic step, which finds it between the ends: so no piece is taken twice.
//! 3. The helper takes pieces under a claim for writing, so that they are of the region that it means, and gives the claim back when it has
//!    written what it has taken: so none stands while the helper does other things.
//! 4. Ends that have met never part. So an owner that finds no piece left ends the region, and has its memory when no claim is held any
//!    more: all pieces are written then, and no helper can take one.
//! 5. The word orders nothing but itself. The claim orders the helper's bytes before what the owner does with them.
//!
//! What a neighbour writes here is an allegation: who takes a piece compares its number with those that there are.

use crate::sync::{AtomicU64, Ordering};

/// The pieces between both ends. Lives in shared memory: all-zero bytes are no pieces.
#[derive(Debug)]
#[repr(transparent)]
pub struct DivisionWord(
    /// Pieces taken from the front in the upper half, what the helper has left of all in the lower. Written by owner and helper, by
    /// read-modify-write alone.
    AtomicU64,
);

const PIECE: u64 = 1 << 32;

impl DivisionWord {
    /// No pieces.
    pub fn new() -> Self {
        Self(AtomicU64::new(0))
    }

    /// All of so many pieces, none of them taken. Owner only, before anybody knows the key.
    pub fn divide(&self, pieces: u32) {
        self.0.store(u64::from(pieces), Ordering::Relaxed);
    }

    /// The first piece that is left. Owner only.
    pub fn take_front(&self) -> Option<u32> {
        self.take(|seen| seen + PIECE).map(|seen| (seen >> 32) as u32)
    }

    /// The last piece that is left. Helper only, under a claim.
    pub fn take_back(&self) -> Option<u32> {
        self.take(|seen| seen - 1).map(|seen| seen as u32 - 1)
    }

    /// Whether no piece is left. Without a claim a hint, of whatever region the slot is for.
    pub fn is_over(&self) -> bool {
        !is_left(self.0.load(Ordering::Relaxed))
    }

    /// Takes a piece by the step that `after` makes. Returns the word before it.
    fn take(&self, after: impl Fn(u64) -> u64) -> Option<u64> {
        let mut seen = self.0.load(Ordering::Relaxed);
        while is_left(seen) {
            match self.0.compare_exchange_weak(seen, after(seen), Ordering::Relaxed, Ordering::Relaxed) {
                Ok(before) => return Some(before),
                Err(now) => seen = now,
            }
        }
        None
    }
}

/// Whether a piece stands between both ends.
fn is_left(word: u64) -> bool {
    ((word >> 32) as u32) < word as u32
}

impl Default for DivisionWord {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_taken_from_both_ends_until_these_meet() {
        let word = DivisionWord::new();
        assert_eq!((word.take_front(), word.take_back(), word.is_over()), (None, None, true));
        word.divide(4);
        assert_eq!((word.take_front(), word.take_back(), word.take_back()), (Some(0), Some(3), Some(2)));
        assert!(!word.is_over());
        assert_eq!((word.take_front(), word.take_back(), word.take_front()), (Some(1), None, None));
        assert!(word.is_over());
    }
}
