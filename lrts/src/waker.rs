//! Waker: a descriptor for a sleeper, over all that the backends below wait on and a wake-up from within.

use crate::error::LrtsError;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A descriptor over those of several backends, and one to wake it by.
pub(crate) enum Waker {
    Kernel {
        /// Readable while a wake-up is pending.
        rung: OwnedFd,
        /// Watches `rung` and all that the backends sleep on.
        events: OwnedFd,
    },
    /// Nobody sleeps: whether a wake-up is pending. Written by any thread; it orders nothing.
    #[cfg(feature = "sim")]
    Noted(AtomicBool),
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
        Ok(Self::Kernel { rung, events })
    }

    /// A waker for a driven thread, which never sleeps.
    #[cfg(feature = "sim")]
    pub(crate) fn noted() -> Self {
        Self::Noted(AtomicBool::new(false))
    }

    /// Readable when a backend or a wake-up ends the sleep.
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::Kernel { events, .. } => Some(events.as_fd()),
            #[cfg(feature = "sim")]
            Self::Noted(_) => None,
        }
    }

    /// Sleeps until something is readable or the time is over, and takes the wake-up, if there is one.
    pub(crate) fn sleep(&self, timeout: Option<Duration>) {
        if let Some(events) = self.events() {
            let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
            // Whatever ends the sleep, the caller looks for work next.
            let _ = rustix::event::poll(&mut [PollFd::new(&events, PollFlags::IN)], timeout.as_ref());
        }
        self.take();
    }

    /// Ends the current or the next sleep. One system call.
    pub(crate) fn wake(&self) {
        match self {
            // A full counter is readable, which is all a sleeper needs.
            Self::Kernel { rung, .. } => _ = rustix::io::write(rung, &1_u64.to_ne_bytes()),
            #[cfg(feature = "sim")]
            Self::Noted(rung) => rung.store(true, Ordering::Relaxed),
        }
    }

    /// Whether there was a wake-up; there is none afterwards.
    pub(crate) fn take(&self) -> bool {
        match self {
            Self::Kernel { rung, .. } => rustix::io::read(rung, &mut [0; 8]).is_ok(),
            #[cfg(feature = "sim")]
            Self::Noted(rung) => rung.swap(false, Ordering::Relaxed),
        }
    }
}
