//! Backing of an arena: whether it has pages, and when it gives them back.

use std::time::{Duration, Instant};

/// How long an empty arena keeps its pages: longer than most programs pause between two phases, and some hundred times as long as
/// backing the longest usual arena takes.
pub(super) const EMPTY_FOR: Duration = Duration::from_secs(2);

/// Whether an arena has pages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Backing {
    /// The arena has pages for ever.
    Kept,
    /// Until it stays empty. It was seen to be empty at that time, after so many cuts.
    UntilEmpty { seen: Option<(Instant, u64)> },
    /// The arena has no pages, and is empty.
    GivenBack,
}

impl Backing {
    pub(super) const UNTIL_EMPTY: Self = Self::UntilEmpty { seen: None };

    pub(super) fn is_given_back(self) -> bool {
        self == Self::GivenBack
    }

    /// Notes whether the arena is empty after so many cuts: one that was cut in between was used. Returns how long until it has been empty
    /// for long enough.
    pub(super) fn due(&mut self, is_empty: bool, cuts: u64, now: Instant) -> Option<Duration> {
        let Self::UntilEmpty { seen } = self else { return None };
        if !is_empty {
            *seen = None;
            return None;
        }
        let since = match *seen {
            Some((since, at)) if at == cuts => since,
            _ => now,
        };
        *seen = Some((since, cuts));
        Some(EMPTY_FOR.saturating_sub(now.saturating_duration_since(since)))
    }
}
