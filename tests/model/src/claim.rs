//! Model of claims: nobody touches a region's bytes while its owner thinks that nobody does.

use crate::region::claim::{ClaimDenied, ClaimMode, ClaimWord};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU64, Ordering};
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
        assert_eq!(self.word.release(ClaimMode::Read), 0, "nobody asked");
        Ok(value)
    }

    fn write(&self, generation: u64) -> Result<(), ClaimDenied> {
        self.word.claim(generation, ClaimMode::Write)?;
        self.overwrite(generation);
        assert_eq!(self.word.release(ClaimMode::Write), 0, "nobody asked");
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

/// A region that some wait for, and the news of each.
struct Awaited {
    word: ClaimWord,
    news: [AtomicU64; 2],
}

impl Awaited {
    fn new() -> Arc<Self> {
        let awaited = Self { word: ClaimWord::new(), news: [AtomicU64::new(0), AtomicU64::new(0)] };
        awaited.word.publish(1);
        Arc::new(awaited)
    }

    fn tell(&self, askers: u64) {
        let told = self.news.iter().enumerate().filter(|(one, _)| askers & 1 << one != 0);
        told.for_each(|(_, news)| {
            news.fetch_add(1, Ordering::Release);
        });
    }

    fn release(&self, mode: ClaimMode) {
        self.tell(self.word.release(mode));
    }

    /// Claims for `one`, as `Reach` does: news are counted first, and whoever is refused asks. Returns the count that has to change before
    /// it tries again, if it was refused.
    fn attempt(&self, one: usize, mode: ClaimMode) -> Option<u64> {
        loop {
            let counted = self.news[one].load(Ordering::Acquire);
            match self.word.claim(1, mode) {
                Ok(()) => {
                    self.release(mode);
                    return None;
                }
                Err(ClaimDenied::Stale(askers)) => {
                    self.tell(askers);
                    return None;
                }
                Err(ClaimDenied::Busy) if self.word.ask(Some(mode), 1 << one) => return Some(counted),
                Err(ClaimDenied::Busy) => loom::thread::yield_now(),
            }
        }
    }
}

#[test]
fn whoever_waits_for_a_claim_hears_of_its_end() {
    for [held, wanted] in [[ClaimMode::Write, ClaimMode::Read], [ClaimMode::Read, ClaimMode::Write]] {
        loom::model(move || {
            let shared = Awaited::new();
            shared.word.claim(1, held).expect("nobody else claims it");
            let asking = Arc::clone(&shared);
            let asker = thread::spawn(move || asking.attempt(0, wanted));
            shared.release(held);
            let refused_at = asker.join().expect("no panic");
            let news = shared.news[0].load(Ordering::Acquire);
            assert!(refused_at.is_none_or(|counted| news != counted), "it waits for ever");
            // Nothing is left over.
            assert!(!shared.word.is_claimed() && shared.attempt(1, ClaimMode::Write).is_none());
        });
    }
}

#[test]
fn two_that_wait_for_each_other_s_claims_both_hear() {
    loom::model(|| {
        let shared = Awaited::new();
        let other = Arc::clone(&shared);
        let asker = thread::spawn(move || other.attempt(0, ClaimMode::Write));
        let refused = [shared.attempt(1, ClaimMode::Write), asker.join().expect("no panic")];
        for (one, refused_at) in [1, 0].into_iter().zip(refused) {
            let news = shared.news[one].load(Ordering::Acquire);
            assert!(refused_at.is_none_or(|counted| news != counted), "{one} waits for ever");
        }
    });
}

#[test]
fn an_owner_that_waits_for_the_last_claim_hears_of_its_end() {
    loom::model(|| {
        let shared = Awaited::new();
        shared.word.claim(1, ClaimMode::Read).expect("nobody else claims it");
        let holder = Arc::clone(&shared);
        let release = thread::spawn(move || holder.release(ClaimMode::Read));
        shared.word.retire();
        let counted = shared.news[0].load(Ordering::Acquire);
        let waits = !shared.word.is_drained() && shared.word.ask(None, 1);
        release.join().expect("no panic");
        assert!(!waits || shared.news[0].load(Ordering::Acquire) != counted, "the memory stays for ever");
        assert!(shared.word.is_drained());
    });
}
