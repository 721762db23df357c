//! Record of the entry or task that a PE runs, so that failures can name it.

use super::times::EntryName;
use crate::base::deadline::Deadline;
use crate::model::ids::BroadcastId;
use crate::model::registry::{self, AnyChare, Identity};
use crate::node::timeline::{Kind, What};
use std::cell::Cell;
use std::rc::Rc;

/// The entry, task or closure that a PE runs.
#[derive(Clone, Default)]
pub(crate) struct Running {
    /// The chare whose entry runs, if it is a chare's entry.
    pub(crate) chare: Option<Rc<dyn AnyChare>>,
    /// The identity of the chare whose constructor runs.
    pub(crate) unborn: Option<Rc<Identity>>,
    /// The entry's name.
    pub(crate) entry: &'static str,
    /// The reference number that came with the call.
    pub(crate) reference: u64,
    /// The broadcast that called the entry, or in whose entries the entry was called; see [`Now::within`].
    pub(crate) within: Option<BroadcastId>,
    /// The deadline of the call; without a chare, one that was over before the call began.
    pub(crate) deadline: Option<Deadline>,
}

/// The chare that a call inside an entry is of.
#[derive(Clone)]
pub(crate) enum Whose {
    Chare(Rc<dyn AnyChare>),
    /// One whose constructor runs, or that is here no more.
    Unborn(Rc<Identity>),
}

impl Running {
    /// An entry of a chare, or its constructor, called like a function.
    pub(super) fn inside((whose, entry): (Whose, &'static str)) -> Self {
        match whose {
            Whose::Chare(chare) => Self { chare: Some(chare), ..Self::named(entry) },
            Whose::Unborn(identity) => Self { unborn: Some(identity), ..Self::named(entry) },
        }
    }

    /// Code that belongs to no chare.
    pub(crate) fn named(entry: &'static str) -> Self {
        Self { entry, ..Self::default() }
    }

    /// The identity of the chare, if there is or will be one.
    pub(crate) fn identity(&self) -> Option<&Identity> {
        self.chare.as_ref().map(|chare| chare.identity()).or(self.unborn.as_deref())
    }

    /// Whether a call is dropped that had not begun when its deadline was over.
    pub(crate) fn is_late(&self) -> bool {
        self.chare.is_none() && self.deadline.is_some()
    }

    /// The record as a span of the timeline.
    pub(super) fn as_span(&self, kind: Kind) -> What {
        What { kind, chare: self.identity().map(|chare| (chare.name(), chare.target)), name: self.entry }
    }

    /// The names of chare type and entry.
    pub(super) fn name(&self) -> EntryName {
        (self.identity().map_or("", |identity| identity.name()), self.entry)
    }

    /// Chare and entry, for messages to humans.
    pub(crate) fn describe(&self) -> String {
        match self.identity() {
            Some(identity) => {
                let name = identity.name();
                format!("{name}::{} of {}", self.entry, registry::show(name, identity.target))
            }
            None => self.entry.to_owned(),
        }
    }
}

/// The current [`Running`] of a PE, written anew for every call: in cells, whose writes need not check for readers. A reader gets a copy.
#[derive(Default)]
pub(crate) struct Now {
    chare: Cell<Option<Rc<dyn AnyChare>>>,
    unborn: Cell<Option<Rc<Identity>>>,
    entry: Cell<&'static str>,
    reference: Cell<u64>,
    /// The broadcast over a growing collection that called the entry, or in whose entries another element called it. A change of it
    /// holds for some code, so entries without one, which nearly all are, write nothing.
    within: Cell<Option<BroadcastId>>,
    /// The deadline of the call that called the entry, or in whose task it goes on: as rare, and so written for some code alone.
    deadline: Cell<Option<Deadline>>,
}

impl Now {
    /// Records that `running` begins.
    #[inline]
    pub(crate) fn begin(&self, running: Running) {
        let Running { chare, unborn, entry, reference, within: _, deadline: _ } = running;
        self.chare.set(chare);
        self.unborn.set(unborn);
        self.entry.set(entry);
        self.reference.set(reference);
    }

    /// Records that it has ended. Entry and reference number stay.
    pub(crate) fn end(&self) {
        self.chare.set(None);
        self.unborn.set(None);
    }

    /// Records that an entry of a chare begins: writes no more cells than change.
    #[inline(always)]
    pub(crate) fn begin_entry(&self, chare: Rc<dyn AnyChare>, entry: &'static str, reference: u64) {
        let before = self.chare.replace(Some(chare));
        debug_assert!(before.is_none(), "entries do not run inside each other");
        // `None` needs no drop; `forget` saves the check.
        std::mem::forget(before);
        self.entry.set(entry);
        self.reference.set(reference);
    }

    /// Records that the entry has ended; gives its chare back.
    #[inline(always)]
    pub(crate) fn end_entry(&self) -> Option<Rc<dyn AnyChare>> {
        self.chare.take()
    }

    /// The broadcast within which code runs.
    #[inline(always)]
    pub(crate) fn within(&self) -> Option<BroadcastId> {
        self.within.get()
    }

    /// Sets the broadcast within which code runs; returns the one before.
    pub(crate) fn set_within(&self, broadcast: Option<BroadcastId>) -> Option<BroadcastId> {
        self.within.replace(broadcast)
    }

    /// The deadline of what runs.
    pub(crate) fn deadline(&self) -> Option<Deadline> {
        self.deadline.get()
    }

    /// Sets the deadline of what runs; returns the one before.
    pub(crate) fn set_deadline(&self, deadline: Option<Deadline>) -> Option<Deadline> {
        self.deadline.replace(deadline)
    }

    /// The chare whose entry runs, or ran last.
    #[inline]
    pub(crate) fn chare(&self) -> Option<Rc<dyn AnyChare>> {
        look_at(&self.chare)
    }

    /// A copy of the record: the code that runs, or ran last.
    pub(crate) fn get(&self) -> Running {
        Running {
            chare: self.chare(),
            unborn: look_at(&self.unborn),
            entry: self.entry.get(),
            reference: self.reference.get(),
            within: self.within.get(),
            deadline: self.deadline.get(),
        }
    }
}

/// Another handle of the value in a cell.
fn look_at<T: ?Sized>(cell: &Cell<Option<Rc<T>>>) -> Option<Rc<T>> {
    let value = cell.take();
    cell.set(value.clone());
    value
}
