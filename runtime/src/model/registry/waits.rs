//! Waits of a chare's `async` entries for calls, seen from outside: for reports of what waits in a job.

use std::task::Waker;

/// The calls of a chare's awaited entries that wait with it; `#[chare]` implements it.
pub trait AwaitedCalls {
    /// Tells of each wait for calls.
    fn each_wait(&self, tell: &mut dyn FnMut(Wait<'_>));
}

/// The calls of a chare without awaited entries.
impl AwaitedCalls for () {
    fn each_wait(&self, _tell: &mut dyn FnMut(Wait<'_>)) {}
}

/// A wait of an `async` entry for calls, for messages to humans.
pub struct Wait<'a> {
    /// The waker of the task that waits.
    pub(crate) waker: &'a Waker,
    /// The name of the awaited entry.
    pub(crate) entry: &'static str,
    /// The reference number that is asked for, if one is and it can be shown.
    pub(crate) reference: Option<String>,
    /// How many calls of the entry are here, and not what this wait wants.
    pub(crate) others: usize,
}
