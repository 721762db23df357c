//! Model of a division: each piece of a copy is written once, and the owner reads what was written when no claim is left.

use crate::region::claim::{ClaimMode, ClaimWord};
use crate::region::division::DivisionWord;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const PIECES: u32 = 3;

/// A region with a byte for each piece. Loom reports accesses that are not ordered.
struct Region {
    claim: ClaimWord,
    division: DivisionWord,
    pieces: [UnsafeCell<u8>; PIECES as usize],
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
        let help_once = || {
            self.claim.claim(1, ClaimMode::Write).ok()?;
            let taken = self.division.take_back().inspect(|piece| self.write(*piece));
            assert_eq!(self.claim.release(ClaimMode::Write), 0, "nobody asked");
            taken
        };
        std::iter::from_fn(help_once).count() as u32
    }
}

#[test]
fn two_that_copy_together_write_each_piece_once_and_the_owner_waits_for_no_more() {
    loom::model(|| {
        let region = Arc::new(Region {
            claim: ClaimWord::new(),
            division: DivisionWord::new(),
            pieces: std::array::from_fn(|_| UnsafeCell::new(0)),
        });
        region.claim.publish(1);
        region.division.divide(PIECES);
        let helper = Arc::clone(&region);
        let helper = thread::spawn(move || helper.help());
        let own = std::iter::from_fn(|| region.division.take_front()).inspect(|piece| region.write(*piece));
        let own = own.count() as u32;
        assert!(region.division.is_over());
        region.claim.retire();
        while !region.claim.is_drained() {
            thread::yield_now();
        }
        // Also where the helper is about to find that it is too late.
        assert!((0..PIECES).all(|piece| region.read(piece) == 1), "it is written, once");
        assert_eq!(own + helper.join().expect("no panic"), PIECES);
    });
}
