//! Clock of a thread: the machine's monotonic one, or the one that whoever drives the thread has set.

#![expect(clippy::disallowed_methods, reason = "what everything else reads is the machine's clock here")]

#[cfg(feature = "sim")]
use super::driven;
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The time.
#[inline(always)]
pub fn now() -> Instant {
    #[cfg(feature = "sim")]
    if let Some(now_ns) = driven::now_ns() {
        return driven::instant(now_ns);
    }
    Instant::now()
}

/// Time that has passed since then; none if that is yet to come.
#[inline(always)]
pub fn since(then: Instant) -> Duration {
    now().saturating_duration_since(then)
}

/// Spends this time: a driven thread's clock goes on by it, and a plain thread is busy for so long.
pub fn spend(time: Duration) {
    #[cfg(feature = "sim")]
    if driven::spend(time) {
        return;
    }
    let begin = now();
    while since(begin) < time {
        std::hint::spin_loop();
    }
}

/// Nanoseconds of the monotonic clock, which the nodes of a host share: for timelines.
#[inline]
pub fn now_ns() -> u64 {
    #[cfg(feature = "sim")]
    if let Some(now_ns) = driven::now_ns() {
        return now_ns;
    }
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
