//! Work for later: what takes too long for the thread that takes arrivals, and what comes from threads that are no PE's.

use super::{Node, PutOff};
use std::sync::Arc;

impl Node {
    /// Puts work off until the thread that takes arrivals lets others do so: it takes too long for them to wait.
    pub(crate) fn put_off(&self, work: PutOff) {
        self.put_off.push(work);
    }

    /// Leaves work to whichever PE looks at the network next, from any thread, such as one of a device's streams; wakes a PE if all sleep.
    /// Work that comes when the job has ended is dropped.
    pub(crate) fn later(&self, work: PutOff) {
        if self.has_ended() {
            return;
        }
        self.put_off.push(work);
        if !self.mailboxes.iter().any(|mailbox| mailbox.wake_parked()) {
            self.wake_all();
        }
    }

    /// Whether work was put off.
    #[inline]
    pub(crate) fn has_put_off(&self) -> bool {
        !self.put_off.is_empty()
    }

    /// Does the work that was put off; returns whether there was any.
    #[inline]
    pub(crate) fn catch_up(self: &Arc<Self>) -> bool {
        self.has_put_off() && std::iter::from_fn(|| self.put_off.pop()).map(|work| work(self)).count() > 0
    }
}
