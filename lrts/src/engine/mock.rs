//! Mock engine: what a device may do by its contract, drawn from a seed: no room, out of order, late, in part, not at all; and what
//! none should do, which is to panic.

#![expect(unsafe_code, reason = "copies between the places of fragments, as a device would")]

use super::engine::{Engine, Submitted};
use super::job::Fragment;
use parking_lot::Mutex;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

struct Queue {
    chance: ChaCha8Rng,
    depth: usize,
    taken: Vec<Fragment>,
}

/// An engine on a bad day.
pub(super) struct Mock {
    queue: Mutex<Queue>,
    panics: bool,
}

impl Mock {
    pub(super) fn new(seed: u64, panics: bool) -> Self {
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let depth = chance.random_range(0..4);
        Self { queue: Mutex::new(Queue { chance, depth, taken: Vec::new() }), panics }
    }

    fn may_panic(&self, chance: &mut ChaCha8Rng) {
        assert!(!(self.panics && chance.random_ratio(1, 8)), "the mock engine panics");
    }
}

/// Moves the first bytes of a fragment.
fn move_part(fragment: &Fragment, bytes: usize) {
    let (from, into) = fragment.places().expect("it was taken because it has them");
    // SAFETY: the fragment, which this engine has, is at least as long; its places are its own.
    unsafe { std::ptr::copy(from, into, bytes) };
}

impl Engine for Mock {
    fn describe(&self) -> &str {
        "mock"
    }

    fn submit(&self, fragment: Fragment) -> Result<Submitted, Fragment> {
        let Queue { chance, depth, taken } = &mut *self.queue.lock();
        if fragment.places().is_none() || taken.len() >= *depth || chance.random_ratio(1, 8) {
            return Err(fragment);
        }
        self.may_panic(chance);
        taken.push(fragment);
        Ok(Submitted::UnderWay)
    }

    fn poll(&self, done: &mut dyn FnMut(Fragment, usize)) {
        let Queue { chance, taken, .. } = &mut *self.queue.lock();
        while !taken.is_empty() && chance.random_ratio(2, 3) {
            let fragment = taken.swap_remove(chance.random_range(0..taken.len()));
            let moved = match chance.random_range(0..4) {
                0 => 0,
                1 => chance.random_range(0..=fragment.len()),
                _ => fragment.len(),
            };
            move_part(&fragment, moved);
            self.may_panic(chance);
            done(fragment, moved);
        }
    }

    fn is_idle(&self) -> bool {
        self.queue.lock().taken.is_empty()
    }
}
