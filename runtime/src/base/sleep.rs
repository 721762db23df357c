//! How a PE sleeps, as those who leave it work see it.
//!
//! 1. A PE that is about to sleep stores how, passes the heavy barrier, and looks for work once more.
//! 2. Whoever leaves work does so first, passes the light barrier, and looks how the PE sleeps.
//! 3. At least one of them sees the other (Dekker): the PE finds the work, or the other finds it asleep.
//! 4. Whoever turns asleep into awake does the waking; so each sleep is ended at most once.
//!
//! `tests/model` checks it.

use crate::base::sync::{AtomicU8, Ordering, heavy, light};

const AWAKE: u8 = 0;
const PARKED: u8 = 1;
const IN_NETWORK: u8 = 2;

/// Whom to wake.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sleeper {
    /// Its thread is parked.
    Thread,
    /// It waits in the network.
    Network,
}

/// One PE's state, written by the PE when it falls asleep and by whoever wakes it.
#[derive(Debug)]
pub(crate) struct Sleep(AtomicU8);

impl Sleep {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(AWAKE))
    }

    /// Rule 1: look for work after this, and sleep only if there is none.
    pub(crate) fn announce(&self, sleeper: Sleeper) {
        let state = match sleeper {
            Sleeper::Thread => PARKED,
            Sleeper::Network => IN_NETWORK,
        };
        self.0.store(state, Ordering::Relaxed);
        heavy();
    }

    /// The PE is awake, for whatever reason.
    pub(crate) fn end(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Rule 2: called after work was left; says whom the caller must wake.
    #[inline]
    pub(crate) fn interrupt(&self) -> Option<Sleeper> {
        light();
        if self.0.load(Ordering::Relaxed) == AWAKE {
            return None;
        }
        match self.0.swap(AWAKE, Ordering::AcqRel) {
            PARKED => Some(Sleeper::Thread),
            IN_NETWORK => Some(Sleeper::Network),
            _ => None,
        }
    }

    /// Rule 2, for a parked sleep and no other; returns whether the caller must unpark the thread.
    pub(crate) fn interrupt_parked(&self) -> bool {
        light();
        self.0.compare_exchange(PARKED, AWAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
