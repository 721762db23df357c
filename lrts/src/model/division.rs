//! Model of a division: each piece of a copy is written once, and the owner reads what was written when it has heard so.

use crate::region::claim::{ClaimMode, ClaimWord};
use crate::region::division::DivisionWord;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, Ordering};
use loom::thread;

const PIECES: u32 = 3;

/// A region with a byte for each piece, and the helper's message. Loom reports accesses that are not ordered.
struct Region {
    claim: ClaimWord,
    division: DivisionWord,
    pieces: [UnsafeCell<u8>; PIECES as usize],
    has_told: AtomicBool,
}

#[expect(unsafe_code, reason = "loom checks that accesses to the cells are ordered")]
// SAFETY: the model's purpose is to find out whether accesses to the cells are ordered.
unsafe impl Sync for Region {}

impl Region {
    fn write(&self, piece: u32) {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.pieces[piece as usize].with_mut(|byte| unsafe { *byte += 1 });
    }

    fn read(&self, piece: u32) -> u8 {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.pieces[piece as usize].with(|byte| unsafe { *byte })
    }

    /// The helper's part. Returns how many pieces it took.
    fn help(&self) -> u32 {
        if self.claim.claim(1, ClaimMode::Write).is_err() {
            return 0;
        }
        let taken =
            std::iter::from_fn(|| self.division.take_back()).inspect(|piece| self.write(*piece)).count();
        assert_eq!(self.claim.release(ClaimMode::Write), 0, "nobody asked");
        if taken > 0 {
            self.has_told.store(true, Ordering::Release);
        }
        taken as u32
    }
}

#[test]
fn two_that_copy_together_write_each_piece_once_and_the_owner_waits_for_no_more() {
    loom::model(|| {
        let region = Arc::new(Region {
            claim: ClaimWord::new(),
            division: DivisionWord::new(),
            pieces: std::array::from_fn(|_| UnsafeCell::new(0)),
            has_told: AtomicBool::new(false),
        });
        region.claim.publish(1);
        region.division.divide(PIECES);
        let helper = Arc::clone(&region);
        let helper = thread::spawn(move || helper.help());
        let own = std::iter::from_fn(|| region.division.take_front()).inspect(|piece| region.write(*piece));
        let own = own.count() as u32;
        assert!(region.division.is_over());
        if own < PIECES {
            while !region.has_told.load(Ordering::Acquire) {
                thread::yield_now();
            }
        }
        // Also where the helper is about to find that it is too late.
        assert!((0..PIECES).all(|piece| region.read(piece) == 1), "it is written, once");
        region.claim.retire();
        assert_eq!(own + helper.join().expect("no panic"), PIECES);
        assert!(region.claim.is_drained());
    });
}
