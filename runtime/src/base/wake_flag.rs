//! Wake flag of a task: it tells the task's PE once that the task is to be polled, however often the task is woken.
//!
//! 1. A thread that wakes a task has changed what the task waits for, and calls [`WakeFlag::set`] afterwards. If that returns `true`,
//!    the thread leaves the task's key with the PE.
//! 2. The PE takes the key, calls [`WakeFlag::clear`], and polls the task afterwards.
//! 3. Both are read-modify-writes, so one follows the other: a change made before a `set` that precedes the `clear` is seen by the task
//!    when it is polled, and a `set` that follows the `clear` tells the PE anew. A plain store in `clear` would let the task look before
//!    other threads see the flag cleared.
//!
//! `tests/model` checks this protocol.

use crate::base::sync::{AtomicBool, Ordering};

/// Whether the PE has been told and has not cleared the flag since; set by any thread, cleared by the PE.
#[derive(Debug)]
pub(crate) struct WakeFlag(AtomicBool);

impl WakeFlag {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Rule 1, from any thread; returns whether the caller must leave the task's key with the PE.
    pub(crate) fn set(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Rule 2, from the PE.
    pub(crate) fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}
