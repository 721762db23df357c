//! Waits that are in flight: for a time or for the world outside the job. Each counts as a message, so that quiescence waits for it.

use super::Pe;
use std::marker::PhantomData;
use std::rc::Rc;

/// A wait of a task of this PE, from its begin to its end.
#[derive(Debug)]
pub(crate) struct InFlight(PhantomData<Rc<()>>);

impl InFlight {
    /// Begins a wait.
    pub(crate) fn begin(pe: &Pe) -> Self {
        pe.counters.sent.add(1);
        Self(PhantomData)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        // It stays on its PE, so there is one.
        Pe::try_current(|pe| pe.counters.processed.add(1));
    }
}
