//! Serial numbers that one PE gives to the singletons, collections and sections that it creates; and the set of the singletons that were
//! created on it, which tells a chare that is gone from a chare that is still to come: a PE numbers the singletons that it creates on another
//! PE one by one, from the job's first number on.

use crate::base::numbering::JobNumbers;
use crate::base::seen_numbers::SeenNumbers;
use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// The serial numbers that a PE gives; each kind is counted by itself, from the job's first number on.
pub(crate) struct Serials {
    numbers: Arc<JobNumbers>,
    first: u32,
    collections: Cell<u32>,
    sections: Cell<u32>,
    /// By home, since [`CreatedChares`](super::CreatedChares) counts so.
    singletons: RefCell<FxHashMap<PeId, u32>>,
}

impl Serials {
    pub(crate) fn new(numbers: Arc<JobNumbers>) -> Self {
        let first = numbers.first().creations;
        let from = || Cell::new(first);
        Self { numbers, first, collections: from(), sections: from(), singletons: RefCell::default() }
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
        self.next(Cell::from_mut(self.singletons.borrow_mut().entry(home).or_insert(self.first)))
    }

    /// The number behind all that were given.
    pub(crate) fn end(&self) -> u32 {
        let singletons = self.singletons.borrow();
        let ends = singletons.values().copied().chain([self.sections.get()]);
        ends.fold(self.collections.get(), u32::max)
    }

    fn next(&self, counter: &Cell<u32>) -> u32 {
        let number = counter.get();
        counter.set(number.checked_add(1).expect("a PE creates fewer than 2^31 of a kind"));
        self.numbers.grow(number);
        number
    }
}

/// The singletons that were created on one PE, by creator.
pub(crate) struct CreatedChares {
    first: u32,
    seen: FxHashMap<PeId, SeenNumbers>,
}

impl CreatedChares {
    /// None yet, in a job whose numbers begin with `first`.
    pub(crate) fn new(first: u32) -> Self {
        Self { first, seen: FxHashMap::default() }
    }

    /// Notes that a chare is created. Returns whether it was never created before.
    pub(crate) fn note(&mut self, id: ChareId) -> bool {
        let begin = || SeenNumbers::from(self.first.into());
        self.seen.entry(id.creator).or_insert_with(begin).insert(id.serial.into())
    }

    /// Whether a chare was created here in this job, no matter whether it still exists.
    pub(crate) fn include(&self, id: ChareId) -> bool {
        let seen = self.seen.get(&id.creator);
        id.serial >= self.first && seen.is_some_and(|seen| seen.includes(id.serial.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creators_count_apart_and_chares_of_earlier_jobs_are_not_among_them() {
        let id = |creator, serial| ChareId { home: PeId(0), creator: PeId(creator), serial };
        let mut created_chares = CreatedChares::new(10);
        assert!(created_chares.note(id(7, 10)) && !created_chares.note(id(7, 10)));
        assert!(created_chares.include(id(7, 10)) && !created_chares.include(id(8, 10)));
        assert!(!created_chares.include(id(7, 9)) && !created_chares.note(id(7, 9)));
    }
}
