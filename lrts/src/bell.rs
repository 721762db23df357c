//! A bell: wakes whoever sleeps on a descriptor, and costs nothing while nobody sleeps.
//!
//! 1. A sleeper arms the bell, then looks for work once more, then polls the descriptor.
//! 2. Whoever makes work does so first and rings afterwards.
//! 3. Both sides put a sequentially consistent fence between their two steps, so at least one of them sees
//!    the other: either the sleeper finds the work, or the ringer finds the bell armed.
//! 4. A ring that nobody needed makes one sleep end early, never one end late.

use rustix::event::EventfdFlags;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering, fence};

/// An event descriptor with the protocol above. One per sleeping place; any number of ringers.
#[derive(Debug)]
pub struct Bell {
    event: OwnedFd,
    /// Set by sleepers, cleared by the first ringer that sees it.
    armed: AtomicBool,
}

impl Bell {
    /// A silent bell. Takes one descriptor.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptor.
    pub fn new() -> io::Result<Self> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { event, armed: AtomicBool::new(false) })
    }

    /// Forgets earlier rings and asks for the next one. Look for work afterwards, then sleep.
    pub fn arm(&self) {
        // An empty event answers `EAGAIN`, which is what this call wants to reach anyway.
        let _ = rustix::io::read(&self.event, &mut [0; 8]);
        self.armed.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
    }

    /// Wakes the sleepers, if any. Make the work visible before.
    pub fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.armed.load(Ordering::SeqCst) && self.armed.swap(false, Ordering::SeqCst) {
            // A full counter is readable, which is all a sleeper needs.
            let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        }
    }

    /// Readable after a ring.
    pub fn event_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}
