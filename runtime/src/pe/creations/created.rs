//! Set of the singletons that were created on a PE: tells a chare that is gone from a chare that is still to come. A PE numbers the
//! singletons that it creates on another PE one by one, from the job's first number on.

use crate::base::seen_numbers::SeenNumbers;
use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;

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
