//! Transfers that wait for the end of a claim, which is in their way, each with the count of news from before it was tried.

use crate::operation::Operation;
use crate::region::Regions;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// The transfers of a node that wait.
#[derive(Default)]
pub(super) struct Waiting {
    /// Each with the count of news from before it was tried.
    operations: Mutex<Vec<(Operation, u64)>>,
    /// Length of `operations`, for those who poll. Written under its lock.
    count: AtomicUsize,
    /// The least of their counts of news. Written under the same lock, before `count`.
    tried_at: AtomicU64,
}

impl Waiting {
    pub(super) fn push(&self, operation: Operation, counted: u64) {
        let mut operations = self.operations.lock();
        let least = operations.iter().map(|(_, counted)| *counted).fold(counted, u64::min);
        operations.push((operation, counted));
        self.tried_at.store(least, Ordering::Relaxed);
        self.count.store(operations.len(), Ordering::Release);
    }

    pub(super) fn take(&self) -> Vec<(Operation, u64)> {
        let mut operations = self.operations.lock();
        self.count.store(0, Ordering::Relaxed);
        std::mem::take(&mut *operations)
    }

    /// Whether none waits. One load.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Acquire) == 0
    }

    /// Whether any is to be tried again.
    #[inline]
    pub(super) fn is_due(&self, regions: &Regions) -> bool {
        !self.is_empty() && self.tried_at.load(Ordering::Relaxed) != regions.news()
    }
}
