//! Clock of timelines: the host's monotonic one, which its nodes share.

use rustix::time::ClockId;

/// Nanoseconds of the clock.
pub(crate) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
