//! Set of the singletons that were created on a PE: tells a chare that is gone from a chare that is still to come. A PE numbers the
//! singletons that it creates on another PE one by one, from the job's first number on.

use crate::base::seen_numbers::SeenNumbers;
use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;

/// The singletons that were created on one PE, by creator.
pub(crate) struct CreatedChares {
    here: PeId,
    first: u32,
    /// Those that the PE has created itself: the most, where chares are many.
    own: SeenNumbers,
    /// Those that others have created.
    seen: FxHashMap<PeId, SeenNumbers>,
}

impl CreatedChares {
    /// None yet, on PE `here`, in a job whose numbers begin with `first`.
    pub(crate) fn new(here: PeId, first: u32) -> Self {
        Self { here, first, own: SeenNumbers::from(first.into()), seen: FxHashMap::default() }
    }

    /// Notes that a chare is created. Returns whether it was never created before.
    pub(crate) fn note(&mut self, id: ChareId) -> bool {
        let begin = || SeenNumbers::from(self.first.into());
        let seen = match id.creator {
            creator if creator == self.here => &mut self.own,
            creator => self.seen.entry(creator).or_insert_with(begin),
        };
        seen.insert(id.serial.into())
    }

    /// Whether a chare was created here in this job, no matter whether it still exists.
    pub(crate) fn include(&self, id: ChareId) -> bool {
        let seen = if id.creator == self.here { Some(&self.own) } else { self.seen.get(&id.creator) };
        id.serial >= self.first && seen.is_some_and(|seen| seen.includes(id.serial.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn creators_count_apart_and_chares_of_earlier_jobs_are_not_among_them() {
        let id = |creator, serial| ChareId { home: PeId(0), creator: PeId(creator), serial };
        for creator in [0, 7] {
            let mut created_chares = CreatedChares::new(PeId(0), 10);
            assert!(created_chares.note(id(creator, 10)) && !created_chares.note(id(creator, 10)));
            assert!(created_chares.include(id(creator, 10)) && !created_chares.include(id(8, 10)));
            assert!(!created_chares.include(id(creator, 9)) && !created_chares.note(id(creator, 9)));
        }
    }
}
