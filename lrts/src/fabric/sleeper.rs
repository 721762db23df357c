//! Sleeper: the descriptor that an idle node waits on, and the naps where the network has none.
//!
//! 1. The queue's descriptor and the keepalive connections end a sleep when something happened.
//! 2. Where the network has no descriptor, nothing ends a sleep but a clock. So a node looks on for [`LOOK_ON`] and lets others have the core in
//!    between: of two nodes that wait for each other each would wait for the other's nap, and so nap longer. Then it naps: [`NAP_MIN`] at
//!    first, twice as long after every nap that led to nothing, up to [`NAP_MAX`].
//! 3. The clock also runs while something ends by time: a node that is closing, a lost peer's last operations.

use crate::ambient::clock;
use crate::error::LrtsError;
use parking_lot::Mutex;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::time::{Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Longer than a node needs to take a message of some megabytes and to answer.
const LOOK_ON: Duration = Duration::from_millis(2);

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
    /// Set by sleepers, cleared by the next thread that makes progress.
    slept: AtomicBool,
    /// Whether something happened since the last look. A hint: nothing is ordered by it.
    happened: AtomicBool,
    idle: Mutex<Idle>,
}

/// How long nothing has happened.
struct Idle {
    since: Instant,
    naps: u32,
}

impl Sleeper {
    /// Watches a queue's descriptor, if there is one, and the keepalive connections.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new(
        backend: &'static str,
        queue: Option<BorrowedFd<'_>>,
        keepalives: BorrowedFd<'_>,
    ) -> Result<Self, LrtsError> {
        let system = |errno: Errno| LrtsError::System {
            operation: "making something to sleep on",
            backend,
            source: Arc::new(errno.into()),
            hint: "; raise the limit of open files (`ulimit -n`)",
        };
        let events = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let clock = rustix::time::timerfd_create(TimerfdClockId::Monotonic, flags).map_err(system)?;
        let has_descriptor = queue.is_some();
        for watched in [Some(keepalives), Some(clock.as_fd()), queue].into_iter().flatten() {
            epoll::add(&events, watched, EventData::new_u64(0), EventFlags::IN).map_err(system)?;
        }
        let (slept, happened) = (AtomicBool::new(false), AtomicBool::new(true));
        let idle = Mutex::new(Idle { since: clock::now(), naps: 0 });
        Ok(Self { events, clock, has_descriptor, slept, happened, idle })
    }

    /// Readable when a sleep is over.
    pub(crate) fn event_fd(&self) -> BorrowedFd<'_> {
        self.events.as_fd()
    }

    /// Prepares a sleep, unless `may_sleep` says `None`; `Some(true)`: something ends by time.
    pub(crate) fn arm(&self, may_sleep: impl FnOnce() -> Option<bool>) -> bool {
        // First, so that a look at the keepalive connections follows whatever happens from here on.
        self.slept.store(true, Ordering::Release);
        let Some(by_time) = may_sleep() else { return false };
        if by_time {
            self.set(NAP_MIN);
        } else if !self.has_descriptor {
            let Some(nap) = self.next_nap() else {
                std::thread::yield_now();
                return false;
            };
            self.set(nap);
        }
        true
    }

    /// How long to nap now; `None`: not yet.
    fn next_nap(&self) -> Option<Duration> {
        let mut idle = self.idle.lock();
        if self.happened.swap(false, Ordering::Relaxed) {
            *idle = Idle { since: clock::now(), naps: 0 };
        }
        if clock::since(idle.since) < LOOK_ON {
            return None;
        }
        let nap = NAP_MIN * (1 << idle.naps);
        idle.naps = (idle.naps + 1).min(DOUBLINGS);
        Some(nap.min(NAP_MAX))
    }

    /// Whether a thread slept, or was about to, since the last call.
    pub(crate) fn has_slept(&self) -> bool {
        if !self.slept.load(Ordering::Relaxed) || !self.slept.swap(false, Ordering::AcqRel) {
            return false;
        }
        // An empty clock answers `EAGAIN`, which is what this call wants to reach anyway.
        let _ = rustix::io::read(&self.clock, &mut [0; 8]);
        true
    }

    /// Notes that something happened: the node looks on again, and the next nap is short.
    pub(crate) fn note_work(&self) {
        self.happened.store(true, Ordering::Relaxed);
    }

    fn set(&self, nap: Duration) {
        let value = Timespec { tv_sec: 0, tv_nsec: nap.subsec_nanos().into() };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: value };
        // Cannot fail for an open clock and a time below a second.
        let _ = rustix::time::timerfd_settime(&self.clock, TimerfdTimerFlags::empty(), &once);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_for_a_clock_looks_on_before_it_naps() {
        let keepalives = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let sleeper = Sleeper::new("test", None, keepalives.as_fd()).unwrap();
        for _ in 0..2 {
            sleeper.note_work();
            let busy_until = clock::now();
            assert!(!sleeper.arm(|| Some(false)), "something has just happened");
            while !sleeper.arm(|| Some(false)) {}
            assert!(clock::since(busy_until) >= LOOK_ON);
            assert!(sleeper.arm(|| Some(false)), "it naps until something happens");
        }
        assert!(sleeper.arm(|| Some(true)) && !sleeper.arm(|| None));
    }

    #[test]
    fn who_has_a_descriptor_sleeps_at_once() {
        let keepalives = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let sleeper = Sleeper::new("test", Some(keepalives.as_fd()), keepalives.as_fd());
        assert!(sleeper.is_err(), "one descriptor is watched once");
        let queue = epoll::create(epoll::CreateFlags::CLOEXEC).unwrap();
        let sleeper = Sleeper::new("test", Some(queue.as_fd()), keepalives.as_fd()).unwrap();
        sleeper.note_work();
        assert!(sleeper.arm(|| Some(false)));
    }
}
