//! Set of the singletons that were created on a PE: tells a chare that is gone from a chare that is still to come.
//!
//! A PE numbers the singletons that it creates on another PE: 0, 1, 2, ... So the numbers seen from one creator are all those below a
//! bound and the few that overtook others: a long life of many short-lived chares takes no memory.

use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// The singletons that were created on one PE, by creator.
#[derive(Default)]
pub(crate) struct CreatedChares(FxHashMap<PeId, Seen>);

#[derive(Default)]
struct Seen {
    /// All numbers below the bound were seen.
    bound: u32,
    /// The numbers above the bound that were seen.
    early: BTreeSet<u32>,
}

impl CreatedChares {
    /// Notes that a chare is created. Returns whether it was never created before.
    pub(crate) fn note(&mut self, id: ChareId) -> bool {
        let seen = self.0.entry(id.creator).or_default();
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
        let seen = self.0.get(&id.creator);
        seen.is_some_and(|seen| id.serial < seen.bound || seen.early.contains(&id.serial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seen_once_in_any_order_and_leave_nothing_behind() {
        let id = |creator, serial| ChareId { home: PeId(0), creator: PeId(creator), serial };
        let mut created_chares = CreatedChares::default();
        for serial in [3, 0, 2, 5, 1] {
            assert!(!created_chares.include(id(7, serial)));
            assert!(created_chares.note(id(7, serial)));
            assert!(created_chares.include(id(7, serial)) && !created_chares.include(id(8, serial)));
        }
        assert!(!created_chares.include(id(7, 4)));
        for serial in [0, 3, 5] {
            assert!(!created_chares.note(id(7, serial)), "{serial} again");
        }
        assert_eq!(created_chares.0[&PeId(7)].early.len(), 1, "5 alone waits for 4");
    }
}
