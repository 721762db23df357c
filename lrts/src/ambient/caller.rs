//! Caller: who a thread is, for those who tell their own from what is others', and whether it may wait.

#![expect(clippy::disallowed_methods, reason = "who calls is the machine's thread here")]

use std::thread::ThreadId;

/// Identity of a thread, or of one of those whose steps a driven thread carries out.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Caller {
    Thread(ThreadId),
    /// By the number that its driver gave.
    #[cfg(feature = "sim")]
    Driven(u64),
}

impl Caller {
    /// The one that asks.
    #[inline]
    pub(crate) fn current() -> Self {
        #[cfg(feature = "sim")]
        if let Some(caller) = super::driven::caller() {
            return Self::Driven(caller);
        }
        Self::Thread(std::thread::current().id())
    }
}

/// Whether this thread may wait for others. A driven thread may not: nobody else goes on meanwhile, and no time passes within a step.
#[inline(always)]
pub fn may_block() -> bool {
    #[cfg(feature = "sim")]
    if super::driven::caller().is_some() {
        return false;
    }
    true
}
