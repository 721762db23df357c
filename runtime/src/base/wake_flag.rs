//! A task's wish to go on: told to its PE once, however often it is woken.
//!
//! 1. Whoever wakes a task has changed what it waits for, and calls [`WakeFlag::set`] afterwards. If that returns `true` it leaves the
//!    task's key with the PE.
//! 2. The PE takes the key, calls [`WakeFlag::clear`], and lets the task look afterwards.
//! 3. Both are read-modify-writes, so one follows the other: a wish made before the grant is seen by the task that is granted it, and one
//!    made after it is told anew. A plain store would let the task look before others see that it does.
//!
//! `tests/model` checks it.

use crate::base::sync::{AtomicBool, Ordering};

/// Whether the PE has been told and has not yet granted it.
#[derive(Debug)]
pub(crate) struct WakeFlag(AtomicBool);

impl WakeFlag {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Rule 1. From any thread.
    pub(crate) fn set(&self) -> bool {
        !self.0.swap(true, Ordering::AcqRel)
    }

    /// Rule 2. From the PE.
    pub(crate) fn clear(&self) {
        self.0.swap(false, Ordering::AcqRel);
    }
}
