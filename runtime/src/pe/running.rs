//! What runs on a PE: kept beside entries and tasks, so that failures can name them.

use crate::model::registry::{self, AnyChare, Identity};
use std::cell::Cell;
use std::rc::Rc;

/// What is running on a PE right now.
#[derive(Clone, Default)]
pub(crate) struct Running {
    /// Whose entry runs, if it is a chare's.
    pub(crate) chare: Option<Rc<dyn AnyChare>>,
    /// Whose constructor runs.
    pub(crate) unborn: Option<Rc<Identity>>,
    /// The entry's name.
    pub(crate) entry: &'static str,
    /// The reference number that came with the call.
    pub(crate) reference: u64,
}

impl Running {
    /// Something that is no chare's.
    pub(crate) fn named(entry: &'static str) -> Self {
        Self { entry, ..Self::default() }
    }

    /// The chare, if there is or will be one.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.chare.as_ref().map(|chare| chare.identity()).or(self.unborn.as_deref())
    }

    /// Chare and entry, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self.identity() {
            Some(Identity { name, target, .. }) => {
                format!("{name}::{} of {}", self.entry, registry::show(name, *target))
            }
            None => self.entry.to_owned(),
        }
    }
}

/// The same where it is said anew for every call: in cells, which are written without a question whether somebody looks. Who looks gets a
/// copy.
#[derive(Default)]
pub(crate) struct Now {
    chare: Cell<Option<Rc<dyn AnyChare>>>,
    unborn: Cell<Option<Rc<Identity>>>,
    entry: Cell<&'static str>,
    reference: Cell<u64>,
}

impl Now {
    /// Something runs.
    pub(crate) fn begin(&self, running: Running) {
        let Running { chare, unborn, entry, reference } = running;
        self.chare.set(chare);
        self.unborn.set(unborn);
        self.entry.set(entry);
        self.reference.set(reference);
    }

    /// It is over.
    pub(crate) fn end(&self) {
        self.chare.set(None);
        self.unborn.set(None);
    }

    /// An entry of a chare runs: writes no more than changes.
    #[inline(always)]
    pub(crate) fn begin_entry(&self, chare: Rc<dyn AnyChare>, entry: &'static str, reference: u64) {
        let before = self.chare.replace(Some(chare));
        debug_assert!(before.is_none(), "entries do not run inside each other");
        // It needs no drop; saying so spares the look.
        std::mem::forget(before);
        self.entry.set(entry);
        self.reference.set(reference);
    }

    /// It is over; gives its chare back.
    #[inline(always)]
    pub(crate) fn end_entry(&self) -> Option<Rc<dyn AnyChare>> {
        self.chare.take()
    }

    /// What runs, or ran last.
    pub(crate) fn get(&self) -> Running {
        Running {
            chare: look_at(&self.chare),
            unborn: look_at(&self.unborn),
            entry: self.entry.get(),
            reference: self.reference.get(),
        }
    }
}

/// Another handle of what is in a cell.
fn look_at<T: ?Sized>(cell: &Cell<Option<Rc<T>>>) -> Option<Rc<T>> {
    let value = cell.take();
    cell.set(value.clone());
    value
}
