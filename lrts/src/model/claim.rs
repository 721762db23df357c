//! Model of claims: nobody touches a region's bytes while its owner thinks that nobody does.

use crate::region::claim::{ClaimDenied, ClaimMode, ClaimWord};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

/// A region: its word, and the bytes it protects. Loom reports accesses that are not ordered.
struct Region {
    word: ClaimWord,
    bytes: UnsafeCell<u64>,
}

// Loom checks what this promises.
#[expect(unsafe_code, reason = "loom checks that accesses to the cell are ordered")]
// SAFETY: the model's purpose is to find out whether accesses to the cell are ordered.
unsafe impl Sync for Region {}

fn region(generation: u64) -> Arc<Region> {
    let region = Region { word: ClaimWord::new(), bytes: UnsafeCell::new(generation) };
    region.word.publish(generation);
    Arc::new(region)
}

impl Region {
    fn read(&self, generation: u64) -> Result<u64, ClaimDenied> {
        self.word.claim(generation, ClaimMode::Read)?;
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        let value = self.bytes.with(|bytes| unsafe { *bytes });
        self.word.release(ClaimMode::Read);
        Ok(value)
    }

    fn write(&self, generation: u64) -> Result<(), ClaimDenied> {
        self.word.claim(generation, ClaimMode::Write)?;
        self.overwrite(generation);
        self.word.release(ClaimMode::Write);
        Ok(())
    }

    fn overwrite(&self, value: u64) {
        #[expect(unsafe_code, reason = "loom's cell hands out pointers")]
        // SAFETY: the cell is alive; loom checks the rest.
        self.bytes.with_mut(|bytes| unsafe { *bytes = value });
    }
}

#[test]
fn a_drained_region_is_the_owners_alone() {
    for mode in [ClaimMode::Read, ClaimMode::Write] {
        loom::model(move || {
            let shared = region(1);
            let claimant = Arc::clone(&shared);
            let other = thread::spawn(move || match mode {
                ClaimMode::Read => claimant.read(1).map(drop),
                ClaimMode::Write => claimant.write(1),
            });
            shared.word.retire();
            if shared.word.is_drained() {
                shared.overwrite(7);
            }
            let outcome = other.join().expect("no panic");
            assert_ne!(outcome, Err(ClaimDenied::Busy), "there is no other claimant");
            assert!(shared.word.is_drained());
            shared.overwrite(8);
        });
    }
}

#[test]
fn writers_exclude_readers_and_writers() {
    loom::model(|| {
        let shared = region(1);
        let threads = [ClaimMode::Read, ClaimMode::Write].map(|mode| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || match mode {
                ClaimMode::Read => shared.read(1).map(drop),
                ClaimMode::Write => shared.write(1),
            })
        });
        let here = shared.write(1);
        let outcomes = threads.map(|thread| thread.join().expect("no panic"));
        assert!(here.is_ok() || outcomes.iter().any(Result::is_ok), "all were turned away");
    });
}

#[test]
fn a_key_never_reaches_the_next_region_in_its_slot() {
    loom::model(|| {
        let shared = region(1);
        let owner = Arc::clone(&shared);
        let renewal = thread::spawn(move || {
            owner.word.retire();
            if owner.word.is_drained() {
                owner.overwrite(2);
                owner.word.publish(2);
            }
        });
        for generation in [1, 2] {
            if let Ok(value) = shared.read(generation) {
                assert_eq!(value, generation);
            }
        }
        renewal.join().expect("no panic");
    });
}
