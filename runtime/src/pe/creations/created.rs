//! Set of the singletons that were created on a PE: tells a chare that is gone from a chare that is still to come.
//!
//! A PE numbers the singletons that it creates on another PE one by one, from the job's first number on. So the numbers seen from one creator are all those below a
//! bound and the few that overtook others: a long life of many short-lived chares takes no memory.

use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The singletons that were created on one PE, by creator.
pub(crate) struct CreatedChares {
    first: u32,
    seen: FxHashMap<PeId, Seen>,
}

struct Seen {
    /// All numbers below the bound were seen.
    bound: u32,
    /// The numbers above the bound that were seen.
    early: BTreeSet<u32>,
}

impl CreatedChares {
    /// None yet, in a job whose numbers begin with `first`.
    pub(crate) fn new(first: u32) -> Self {
        Self { first, seen: FxHashMap::default() }
    }

    /// Notes that a chare is created. Returns whether it was never created before.
    pub(crate) fn note(&mut self, id: ChareId) -> bool {
        let begin = || Seen { bound: self.first, early: BTreeSet::new() };
        let seen = self.seen.entry(id.creator).or_insert_with(begin);
        if id.serial != seen.bound {
            return id.serial > seen.bound && seen.early.insert(id.serial);
        }
        seen.bound += 1;
        while seen.early.remove(&seen.bound) {
            seen.bound += 1;
        }
        true
    }

    /// Whether a chare was created here, no matter whether it still exists.
    pub(crate) fn include(&self, id: ChareId) -> bool {
        let seen = self.seen.get(&id.creator);
        seen.is_some_and(|seen| {
            (self.first..seen.bound).contains(&id.serial) || seen.early.contains(&id.serial)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seen_once_in_any_order_and_leave_nothing_behind() {
        let id = |creator, serial| ChareId { home: PeId(0), creator: PeId(creator), serial };
        let mut created_chares = CreatedChares::new(10);
        for serial in [13, 10, 12, 15, 11] {
            assert!(!created_chares.include(id(7, serial)));
            assert!(created_chares.note(id(7, serial)));
            assert!(created_chares.include(id(7, serial)) && !created_chares.include(id(8, serial)));
        }
        assert!(!created_chares.include(id(7, 14)) && !created_chares.include(id(7, 9)));
        for serial in [9, 10, 13, 15] {
            assert!(!created_chares.note(id(7, serial)), "{serial} again");
        }
        assert_eq!(created_chares.seen[&PeId(7)].early.len(), 1, "15 alone waits for 14");
    }
}
