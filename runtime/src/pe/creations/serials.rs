//! Serial numbers that one PE gives to the singletons, collections and sections that it creates.

use crate::base::numbering::JobNumbers;
use crate::model::ids::PeId;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The serial numbers that a PE gives; each kind is counted by itself, from the job's first number on.
pub(crate) struct Serials {
    numbers: Arc<JobNumbers>,
    first: u32,
    collections: Cell<u32>,
    sections: Cell<u32>,
    here: PeId,
    /// Of the singletons whose home the PE itself is: the most, where chares are many.
    own_singletons: Cell<u32>,
    /// Of others by home, since [`CreatedChares`](super::CreatedChares) counts so.
    singletons: RefCell<FxHashMap<PeId, u32>>,
}

impl Serials {
    /// The numbers of PE `here`.
    pub(crate) fn new(here: PeId, numbers: Arc<JobNumbers>) -> Self {
        let first = numbers.first().creations;
        let from = || Cell::new(first);
        let (collections, sections, own_singletons) = (from(), from(), from());
        Self { numbers, first, collections, sections, here, own_singletons, singletons: RefCell::default() }
    }

    /// The first number of the job.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// A number for a collection.
    pub(crate) fn next_collection(&self) -> u32 {
        self.next(&self.collections)
    }

    /// A number for a section.
    pub(crate) fn next_section(&self) -> u32 {
        self.next(&self.sections)
    }

    /// A number for a singleton on PE `home`.
    pub(crate) fn next_singleton(&self, home: PeId) -> u32 {
        if home == self.here {
            return self.next(&self.own_singletons);
        }
        self.next(Cell::from_mut(self.singletons.borrow_mut().entry(home).or_insert(self.first)))
    }

    /// The number behind all that were given.
    pub(crate) fn end(&self) -> u32 {
        let singletons = self.singletons.borrow();
        let ends = singletons.values().copied().chain([self.sections.get(), self.own_singletons.get()]);
        ends.fold(self.collections.get(), u32::max)
    }

    fn next(&self, counter: &Cell<u32>) -> u32 {
        let number = counter.get();
        counter.set(number.checked_add(1).expect("a PE creates fewer than 2^31 of a kind"));
        self.numbers.grow(number);
        number
    }
}
