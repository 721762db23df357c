//! What can be known of a talk without its lock: whether a progress has to look at it, and whether nobody may sleep.
//!
//! 1. Whoever holds the lock announces that something may be left over, before it asks the wrapped backend for room, and notes afterwards what
//!    is. The backend's news of room may come in between, and is taken by another thread.
//! 2. That thread sees the announcement, finds the lock taken, and leaves word that it came by: then nobody sleeps before a progress has
//!    looked.
//!
//! `model::unrest` plays it in every order.

use crate::sync::{AtomicBool, Ordering};

/// See the file's head. All but `passed_by` is written under the talk's lock.
pub(crate) struct Unrest {
    /// Something waits to be sent or claimed, or may do so in a moment.
    restless: AtomicBool,
    /// Something waits of which no event descriptor tells.
    impatient: AtomicBool,
    /// A progress found the lock taken.
    passed_by: AtomicBool,
}

impl Unrest {
    pub(crate) fn new() -> Self {
        Self {
            restless: AtomicBool::new(false),
            impatient: AtomicBool::new(false),
            passed_by: AtomicBool::new(false),
        }
    }

    /// The backend is about to be asked for room.
    pub(crate) fn announce(&self) {
        self.restless.store(true, Ordering::Release);
    }

    /// What is left: frames, which the backend had no room for if it `is_stalled`, and busy ranges.
    pub(crate) fn note(&self, sends: bool, waits: bool, is_stalled: bool) {
        self.restless.store(sends || waits, Ordering::Release);
        self.impatient.store(waits || (sends && !is_stalled), Ordering::Release);
    }

    /// Whether a progress has to look.
    pub(crate) fn is_restless(&self) -> bool {
        self.restless.load(Ordering::Acquire)
    }

    /// A progress has come by, and found the lock taken or not.
    pub(crate) fn come_by(&self, found_taken: bool) {
        self.passed_by.store(found_taken, Ordering::Release);
    }

    /// Whether nobody may sleep.
    pub(crate) fn must_look(&self) -> bool {
        let passed_by = self.passed_by.load(Ordering::Acquire) && self.is_restless();
        passed_by || self.impatient.load(Ordering::Acquire)
    }
}
