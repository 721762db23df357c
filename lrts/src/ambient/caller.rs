//! Caller: who a thread is, for those who tell their own from what is others'.

#![expect(clippy::disallowed_methods, reason = "who calls is the machine's thread here")]

use std::thread::ThreadId;

/// Identity of a thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Caller(ThreadId);

impl Caller {
    /// The one that asks.
    #[inline]
    pub(crate) fn current() -> Self {
        Self(std::thread::current().id())
    }
}
