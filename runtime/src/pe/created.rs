//! Which singletons were created on a PE: tells one that is gone from one that is still to come.
//!
//! A PE numbers the singletons that it creates on another one: 0, 1, 2, ... So what has come from one creator is every number
//! below a bound and the few that overtook others: a long life of many short-lived chares takes no memory.

use crate::model::ids::{ChareId, PeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// See the file's head.
#[derive(Default)]
pub(crate) struct CreatedChares(FxHashMap<PeId, Seen>);

#[derive(Default)]
struct Seen {
    /// All numbers below it were seen.
    bound: u32,
    /// Those above it that were seen.
    early: BTreeSet<u32>,
}

impl CreatedChares {
    /// Notes that a chare is created. Returns whether it never was before.
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

    /// Whether a chare was created, be it still there or not.
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
