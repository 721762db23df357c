//! Bell: wakes the threads that sleep on a descriptor, and costs nothing while nobody sleeps.
//!
//! 1. A sleeper arms the bell, then looks for work once more, then polls the descriptor.
//! 2. A thread that makes work does so first and rings afterwards.
//! 3. Both sides put a sequentially consistent fence between their two steps, so at least one of them sees
//!    the other: either the sleeper finds the work, or the ringer finds the bell armed.
//! 4. A ring that nobody needed makes one sleep end early, never one end late.
//!
//! `model::bell` plays it.

use crate::sync::{AtomicBool, Ordering, fence};
use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;

/// Whether a thread sleeps. Set by sleepers, cleared by the first ringer that sees it.
#[derive(Debug)]
pub(crate) struct Armed(AtomicBool);

impl Armed {
    pub(crate) fn new() -> Self {
        Self(AtomicBool::new(false))
    }

    /// Announces a sleep: the caller looks for work afterwards.
    pub(crate) fn arm(&self) {
        self.0.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Disarms the bell, once there is work. Returns whether the caller has to ring.
    pub(crate) fn disarm(&self) -> bool {
        fence(Ordering::SeqCst);
        self.0.load(Ordering::SeqCst) && self.0.swap(false, Ordering::SeqCst)
    }
}

/// An event descriptor with the protocol above. One per sleeping place; any number of ringers.
#[derive(Debug)]
pub struct Bell {
    event: OwnedFd,
    armed: Armed,
}

impl Bell {
    /// A silent bell. Takes one descriptor.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptor.
    pub fn new() -> io::Result<Self> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, armed: Armed::new() })
    }

    /// Forgets earlier rings and asks for the next one. Look for work afterwards, then sleep.
    pub fn arm(&self) {
        // An empty event answers `EAGAIN`, which is what this call wants to reach anyway.
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        self.armed.arm();
    }

    /// Wakes the sleepers, if any. Make the work visible before.
    pub fn ring(&self) {
        if self.armed.disarm() {
            // A full counter is readable, which is all a sleeper needs.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Readable after a ring.
    pub fn event_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
