//! Huge pages of an arena: which of its small pages are still to be put together, and when.
//!
//! A neighbour that first reads 64 MiB of an arena enters 32 huge pages into its page table instead of 16,384 small ones, and whoever reads
//! with strides misses fewer addresses. What the kernel cannot do, or has no room for, stays as it is, and nobody is told.

use crate::mapping::{HUGE_PAGE_BYTES, Mapping};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Between two huge pages, each of which takes the kernel about a millisecond: a message waits for one at most, and hardly ever.
pub(super) const PAUSE: Duration = Duration::from_millis(10);

/// For so long a thread has had nothing to do before it puts a huge page together: as long as that takes, so that what comes meanwhile
/// waits no longer than nothing came before. Who only waits for the other end of a long copy has less.
pub(super) const REST: Duration = Duration::from_millis(1);

/// Bytes of an arena whose pages are still small and may become huge.
pub(super) struct SmallPages(Range<usize>);

impl SmallPages {
    /// All pages of an arena.
    pub(super) fn of(arena: &Mapping) -> Self {
        Self(if Mapping::can_collapse() { 0..arena.len() } else { 0..0 })
    }

    /// Pages that stay as they are.
    pub(super) fn kept() -> Self {
        Self(0..0)
    }

    pub(super) fn are_left(&self) -> bool {
        !self.0.is_empty()
    }

    /// Where the next huge page begins.
    pub(super) fn take(&mut self) -> usize {
        let start = self.0.start;
        self.0.start += HUGE_PAGE_BYTES;
        start
    }
}

/// When the next huge page of any arena is due.
#[derive(Default)]
pub(super) struct Pace(Option<Instant>);

impl Pace {
    /// How long until then; `None`: it is due, and the one after it when a pause is over.
    pub(super) fn wait(&mut self, now: Instant) -> Option<Duration> {
        let wait = self.0.map(|at| at.saturating_duration_since(now)).filter(|wait| !wait.is_zero());
        if wait.is_none() {
            self.0 = Some(now + PAUSE);
        }
        wait
    }
}
