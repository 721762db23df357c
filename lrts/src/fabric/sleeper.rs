//! What an idle node sleeps on.
//!
//! 1. The queue's descriptor and the lifelines end a sleep when something happened.
//! 2. Where the network has no descriptor, a clock does: after [`NAP_MIN`] at first, twice as long after every sleep that
//!    led to nothing, up to [`NAP_MAX`].
//! 3. The clock also runs while something ends by time: a node that is closing, a lost peer's last operations.

use crate::error::LrtsError;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

/// About what a sleep and its end cost: shorter ones are no sleeps.
const NAP_MIN: Duration = Duration::from_micros(50);

/// Two hundred looks a second, less than a thousandth of a processor.
const NAP_MAX: Duration = Duration::from_millis(5);

/// Doublings from the one to the other.
const DOUBLINGS: u32 = 7;

/// A descriptor to sleep on.
pub(crate) struct Sleeper {
    events: OwnedFd,
    clock: OwnedFd,
    has_descriptor: bool,
    /// Set by sleepers, cleared by whoever makes progress next.
    slept: AtomicBool,
    /// How often the nap was doubled. A hint: nothing is ordered by it.
    doublings: AtomicU32,
}

impl Sleeper {
    /// Watches a queue's descriptor, if there is one, and the lifelines.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new(
        backend: &'static str,
        queue: Option<BorrowedFd<'_>>,
        lifelines: BorrowedFd<'_>,
    ) -> Result<Self, LrtsError> {
        let system = |errno: Errno| LrtsError::System {
            operation: "making something to sleep on",
            backend,
            source: errno.into(),
            hint: "; raise the limit of open files (`ulimit -n`)",
        };
        let events = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let clock = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system)?;
        let has_descriptor = queue.is_some();
        for watched in [Some(lifelines), Some(clock.as_fd()), queue].into_iter().flatten() {
            epoll::add(&events, watched, EventData::new_u64(0), EventFlags::IN).map_err(system)?;
        }
        let (slept, doublings) = (AtomicBool::new(false), AtomicU32::new(0));
        Ok(Self { events, clock, has_descriptor, slept, doublings })
    }

    /// Readable when a sleep is over.
    pub(crate) fn event_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Prepares a sleep, unless `may_sleep` says `None`; `Some(true)`: something ends by time.
    pub(crate) fn arm(&self, may_sleep: impl FnOnce() -> Option<bool>) -> bool {
        // First, so that a look at the lifelines follows whatever happens from here on.
        self.slept.store(true, Ordering::Release);
        let Some(by_time) = may_sleep() else { return false };
        if by_time || !self.has_descriptor {
            let doublings = self.doublings.load(Ordering::Relaxed).min(DOUBLINGS);
            let nap = if by_time { NAP_MIN } else { (NAP_MIN * (1 << doublings)).min(NAP_MAX) };
            self.doublings.store(doublings + 1, Ordering::Relaxed);
            self.set(nap);
        }
        true
    }

    /// Whether somebody slept, or was about to, since the last call.
    pub(crate) fn has_slept(&self) -> bool {
        if !self.slept.load(Ordering::Relaxed) || !self.slept.swap(false, Ordering::AcqRel) {
            return false;
        }
        // An empty clock answers `EAGAIN`, which is what this call wants to reach anyway.
        let _ = rustix::io::read(&self.clock, &mut [0; 8]);
        true
    }

    /// Something happened: the next nap is short again.
    pub(crate) fn note_work(&self) {
        self.doublings.store(0, Ordering::Relaxed);
    }

    fn set(&self, nap: Duration) {
        let value = Timespec { tv_sec: 0, tv_nsec: nap.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // Cannot fail for an open clock and a time below a second.
        let _ = rustix::time::timerfd_settime(&self.clock, TimerfdTimerFlags::empty(), &once);
    }
}
