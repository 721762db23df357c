//! Clock of a thread: the machine's monotonic one.

#![expect(clippy::disallowed_methods, reason = "what everything else reads is the machine's clock here")]

use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// The time.
#[inline(always)]
pub fn now() -> Instant {
    Instant::now()
}

/// Time that has passed since then; none if that is yet to come.
#[inline(always)]
pub fn since(then: Instant) -> Duration {
    then.elapsed()
}

/// Nanoseconds of the monotonic clock, which the nodes of a host share: for timelines.
#[inline]
pub fn now_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
