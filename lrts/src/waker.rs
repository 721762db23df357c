//! Waker: a descriptor for a sleeper, over all that the backends below wait on and a wake-up from within.

use crate::error::LrtsError;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

/// A descriptor over those of several backends, and one to wake it by.
pub(crate) struct Waker {
    /// Readable while a wake-up is pending.
    rung: OwnedFd,
    /// Watches `rung` and all that the backends sleep on.
    events: OwnedFd,
}

fn system(operation: &'static str, errno: Errno) -> LrtsError {
    let hint = "; raise the limit of open files (`ulimit -n`)";
    LrtsError::System { operation, backend: "lrts", source: Arc::new(errno.into()), hint }
}

impl Waker {
    /// Watches the backends' descriptors.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptors.
    pub(crate) fn new<'a>(backends: impl IntoIterator<Item = BorrowedFd<'a>>) -> Result<Self, LrtsError> {
        let rung = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| system("creating the waker", errno))?;
        let events = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("creating the event queue", errno))?;
        let watch = |descriptor: BorrowedFd<'_>| {
            epoll::add(&events, descriptor, EventData::new_u64(0), EventFlags::IN)
                .map_err(|errno| system("watching a backend", errno))
        };
        watch(rung.as_fd())?;
        backends.into_iter().try_for_each(watch)?;
        Ok(Self { rung, events })
    }

    /// Readable when a backend or a wake-up ends the sleep.
    pub(crate) fn events(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Sleeps until something is readable or the time is over, and takes the wake-up, if there is one.
    pub(crate) fn sleep(&self, timeout: Option<Duration>) {
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Whatever ends the sleep, the caller looks for work next.
        let _ = rustix::event::poll(&mut [PollFd::new(&self.events, PollFlags::IN)], timeout.as_ref());
        self.take();
    }

    /// Ends the current or the next sleep. One system call.
    pub(crate) fn wake(&self) {
        // A full counter is readable, which is all a sleeper needs.
        let _ = rustix::io::write(&self.rung, &1_u64.to_ne_bytes());
    }

    /// Whether there was a wake-up; there is none afterwards.
    pub(crate) fn take(&self) -> bool {
        rustix::io::read(&self.rung, &mut [0; 8]).is_ok()
    }
}
