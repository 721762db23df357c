//! Meter of one PE: the time that each chare's entries have taken since a balancer asked last. Only where there is a balancer.

use crate::model::ids::Target;
use chare_lrts::clock;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::time::Duration;

/// The times of the chares on one PE, and, without a chare, of everything else that ran as an entry or a task does.
#[derive(Default)]
pub(crate) struct Meter(RefCell<FxHashMap<Option<Target>, Duration>>);

impl Meter {
    /// Runs `body`, which is this chare's, and adds its time. Two readings of the clock and a look into a table.
    pub(super) fn measure<R>(&self, chare: Option<Target>, body: impl FnOnce() -> R) -> R {
        let since = clock::now();
        let result = body();
        *self.0.borrow_mut().entry(chare).or_default() += clock::since(since);
        result
    }

    /// Takes the times out, and begins anew.
    pub(crate) fn take(&self) -> FxHashMap<Option<Target>, Duration> {
        self.0.take()
    }
}
