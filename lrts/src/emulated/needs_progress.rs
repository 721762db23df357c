//! Need of progress: two flags that tell without a peer's lock whether a progress has to look at it, and whether threads may sleep.
//!
//! 1. The holder of the lock announces that something may be left over, before it asks the wrapped backend for room, and notes afterwards what
//!    is. The backend may tell of room in between, to another thread.
//! 2. That thread sees the announcement, finds the lock taken, and leaves word that it came by: then nobody sleeps before a progress has
//!    looked.
//!
//! `model::needs_progress` plays it in every order.

use crate::sync::{AtomicBool, Ordering};

/// Whether a talk needs progress. All flags but `passed_by` are written under the talk's lock.
pub(crate) struct NeedsProgress {
    /// Something waits to be sent or claimed, or may do so in a moment.
    set: AtomicBool,
    /// Something waits of which no event descriptor tells.
    unannounced: AtomicBool,
    /// A progress found the lock taken.
    passed_by: AtomicBool,
}

impl NeedsProgress {
    pub(crate) fn new() -> Self {
        Self {
            set: AtomicBool::new(false),
            unannounced: AtomicBool::new(false),
            passed_by: AtomicBool::new(false),
        }
    }

    /// Announces that the backend is about to be asked for room.
    pub(crate) fn announce(&self) {
        self.set.store(true, Ordering::Release);
    }

    /// Notes what is left: frames, which the backend had no room for if it `is_stalled`, and busy ranges.
    pub(crate) fn note(&self, sends: bool, waits: bool, is_stalled: bool) {
        self.set.store(sends || waits, Ordering::Release);
        self.unannounced.store(waits || (sends && !is_stalled), Ordering::Release);
    }

    /// Whether a progress has to look.
    pub(crate) fn is_set(&self) -> bool {
        self.set.load(Ordering::Acquire)
    }

    /// Notes that a progress came by, and whether it found the lock taken.
    pub(crate) fn come_by(&self, found_taken: bool) {
        self.passed_by.store(found_taken, Ordering::Release);
    }

    /// Whether a thread that wants to sleep must look again.
    pub(crate) fn forbids_sleep(&self) -> bool {
        let passed_by = self.passed_by.load(Ordering::Acquire) && self.is_set();
        passed_by || self.unannounced.load(Ordering::Acquire)
    }
}
