//! Need of progress: flags that tell without a peer's lock whether a progress has to look at it, and whether threads may sleep.
//!
//! 1. The holder of the lock announces that something may be left over, before it asks the wrapped backend for room, and notes afterwards what
//!    is. The backend may tell of room in between, to another thread.
//! 2. That thread sees the announcement, finds the lock taken, and leaves word that it came by: then nobody sleeps before a progress has
//!    looked.
//! 3. Of a busy range this node is told, by its count of news (see [`Waiters`](crate::region::waiters::Waiters)): it needs progress when the count is
//!    another than before the range was tried.
//!
//! `model::needs_progress` plays it in every order.

use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// In the place of a count of news: no range is busy.
const NONE_BUSY: u64 = u64::MAX;

/// Whether a talk needs progress. All but `passed_by` are written under the talk's lock.
pub(crate) struct NeedsProgress {
    /// Something waits to be sent, or may do so in a moment.
    set: AtomicBool,
    /// Something waits of which no event descriptor tells.
    unannounced: AtomicBool,
    /// The count of news from before a busy range was tried, or [`NONE_BUSY`].
    waiting_since: AtomicU64,
    /// A progress found the lock taken.
    passed_by: AtomicBool,
}

impl NeedsProgress {
    pub(crate) fn new() -> Self {
        Self {
            set: AtomicBool::new(false),
            unannounced: AtomicBool::new(false),
            waiting_since: AtomicU64::new(NONE_BUSY),
            passed_by: AtomicBool::new(false),
        }
    }

    /// Announces that the backend is about to be asked for room.
    pub(crate) fn announce(&self) {
        self.set.store(true, Ordering::Release);
    }

    /// Notes what is left: frames, which the backend had no room for if it `is_stalled`, and busy ranges, tried after so many news.
    pub(crate) fn note(&self, sends: bool, waiting_since: Option<u64>, is_stalled: bool) {
        self.waiting_since.store(waiting_since.unwrap_or(NONE_BUSY), Ordering::Release);
        self.set.store(sends, Ordering::Release);
        self.unannounced.store(sends && !is_stalled, Ordering::Release);
    }

    /// Whether a progress has to look; `news` counts those of this node.
    pub(crate) fn is_set(&self, news: impl FnOnce() -> u64) -> bool {
        self.set.load(Ordering::Acquire) || self.is_due(news)
    }

    /// Whether a busy range is to be tried again.
    fn is_due(&self, news: impl FnOnce() -> u64) -> bool {
        let since = self.waiting_since.load(Ordering::Acquire);
        since != NONE_BUSY && since != news()
    }

    /// Notes that a progress came by, and whether it found the lock taken.
    pub(crate) fn come_by(&self, found_taken: bool) {
        self.passed_by.store(found_taken, Ordering::Release);
    }

    /// Whether a thread that wants to sleep must look again.
    pub(crate) fn forbids_sleep(&self, news: impl FnOnce() -> u64) -> bool {
        let passed_by = self.passed_by.load(Ordering::Acquire) && self.set.load(Ordering::Acquire);
        passed_by || self.unannounced.load(Ordering::Acquire) || self.is_due(news)
    }
}
