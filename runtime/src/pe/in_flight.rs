//! Waits that are in flight: for a time or for the world outside the job. Each counts as a message, so that quiescence waits for it; what
//! only limits another wait is told apart, so that quiescence may be what is waited for.

use super::Pe;
use std::marker::PhantomData;
use std::rc::Rc;

/// A wait of a task of this PE, from its begin to its end.
#[derive(Debug)]
pub(crate) struct InFlight {
    kind: Kind,
    stays_here: PhantomData<Rc<()>>,
}

/// What is waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// Something that is to happen.
    Event,
    /// The end of the time that another wait has.
    Limit,
}

impl InFlight {
    /// Begins a wait.
    pub(crate) fn begin(pe: &Pe, kind: Kind) -> Self {
        // In this order, and the reverse at its end: who reads the counters meanwhile sees too much in flight, never too little.
        pe.counters.sent.add(1);
        if kind == Kind::Limit {
            pe.counters.limits_set.add(1);
        }
        Self { kind, stays_here: PhantomData }
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // It stays on its PE, so there is one.
        Pe::try_current(|pe| {
            if self.kind == Kind::Limit {
                pe.counters.limits_over.add(1);
            }
            pe.counters.processed.add(1);
        });
    }
}
