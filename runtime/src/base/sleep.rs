//! Sleep state of a PE: it tells a thread that leaves work for the PE whether and how to wake the PE.
//!
//! 1. A PE that is about to sleep stores how it sleeps, passes the heavy fence, and looks for work once more.
//! 2. A thread that leaves work for the PE leaves the work first, then passes the light fence, then looks how the PE sleeps.
//! 3. At least one of the two sees the other (Dekker): the PE finds the work, or the thread finds the PE asleep.
//! 4. The thread that turns asleep into awake does the waking, so each sleep is ended at most once.
//!
//! `tests/model` checks this protocol.

use crate::base::sync::{AtomicU8, Ordering, heavy, light};

const AWAKE: u8 = 0;
const PARKED: u8 = 1;
const IN_NETWORK: u8 = 2;

/// The place where a PE sleeps, which says how to wake it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sleeper {
    /// The PE's thread is parked.
    Thread,
    /// The PE waits in the network.
    Network,
}

/// One PE's state, written by the PE when it falls asleep or wakes, and by the thread that wakes it.
#[derive(Debug)]
pub(crate) struct Sleep(AtomicU8);

impl Sleep {
    pub(crate) fn new() -> Self {
        Self(AtomicU8::new(AWAKE))
    }

    /// Rule 1. After this call the PE looks for work, and sleeps only if there is none.
    pub(crate) fn announce(&self, sleeper: Sleeper) {
        let state = match sleeper {
            Sleeper::Thread => PARKED,
            Sleeper::Network => IN_NETWORK,
        };
        self.0.store(state, Ordering::Relaxed);
        heavy();
    }

    /// The same for a PE whose thread runs all that could leave work for it: nothing lies between the store and the look.
    #[cfg(feature = "sim")]
    pub(crate) fn announce_to_own_thread(&self) {
        self.0.store(PARKED, Ordering::Relaxed);
    }

    /// Marks the PE as awake, whatever woke it.
    pub(crate) fn end(&self) {
        self.0.store(AWAKE, Ordering::Relaxed);
    }

    /// Rule 2, called after work was left; returns which sleeper the caller must wake, if any.
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

    /// Rule 2 for a parked PE and no other; returns whether the caller must unpark the thread.
    pub(crate) fn interrupt_parked(&self) -> bool {
        light();
        self.0.compare_exchange(PARKED, AWAKE, Ordering::AcqRel, Ordering::Relaxed).is_ok()
    }
}
