//! Bell: the descriptor that a sleeper polls, and that a stream rings when it is that far.
//!
//! 1. A sleeper has streams ring, then looks for what it waits for once more, then polls.
//! 2. A ring that nobody needs ends one sleep early; none ends one late.

use rustix::event::{EventfdFlags, PollFd, PollFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;

/// An event descriptor. Clones ring the same sleeper.
#[derive(Debug, Clone)]
pub struct Bell(Arc<OwnedFd>);

impl Bell {
    /// A silent bell. Takes one descriptor.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptor.
    pub fn new() -> io::Result<Self> {
        let event = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self(Arc::new(event)))
    }

    /// Sleeps until it has been rung, and silences it. Returns at once if it was rung before.
    ///
    /// # Errors
    /// The kernel's.
    pub fn wait(&self) -> io::Result<()> {
        while !self.silence() {
            match rustix::event::poll(&mut [PollFd::new(&*self.0, PollFlags::IN)], None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Forgets earlier rings. Returns whether there were any.
    pub fn silence(&self) -> bool {
        // An empty event answers `EAGAIN`.
        rustix::io::read(&*self.0, &mut [0; 8]).is_ok()
    }

    /// Wakes who polls. One system call; never blocks.
    pub fn ring(&self) {
        // A full counter is readable, which is all a sleeper needs.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
