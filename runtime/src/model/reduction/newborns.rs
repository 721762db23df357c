//! Newborn members of a collection on one PE: who came beside which broadcasts, until each has contributed once.
//!
//! A member hears the broadcasts that its PE carries out after its birth, and has missed those before. A reduction to which members
//! contribute within a broadcast belongs to that broadcast, and who missed the broadcast takes no part in it. So long as a newborn has not
//! contributed, its PE does not know with which reduction it begins; with its first contribution it begins with the first open reduction
//! that belongs to no broadcast it missed, and is a member like any other from then on.

use crate::base::seen_numbers::SeenNumbers;
use crate::model::ids::{BroadcastId, PeId};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The broadcasts over one collection that a PE has carried out, by caller.
#[derive(Clone, Default)]
struct Heard(FxHashMap<PeId, SeenNumbers>);

impl Heard {
    fn add(&mut self, broadcast: BroadcastId) {
        self.0.entry(broadcast.caller).or_default().insert(broadcast.serial);
    }

    fn includes(&self, broadcast: BroadcastId) -> bool {
        self.0.get(&broadcast.caller).is_some_and(|seen| seen.includes(broadcast.serial))
    }
}

/// Newborns between whose births the PE carried out no broadcast.
struct Cohort {
    missed: Rc<Heard>,
    members: u64,
}

/// The newborns on one PE.
#[derive(Default)]
pub(super) struct Newborns {
    heard: Rc<Heard>,
    /// By the order of birth: a later cohort has missed all that an earlier one has.
    cohorts: BTreeMap<u64, Cohort>,
    /// The number of the cohort of those who are born now.
    now: u64,
}

impl Newborns {
    /// Takes note that the PE carries out a broadcast.
    pub(super) fn hear(&mut self, broadcast: BroadcastId) {
        Rc::make_mut(&mut self.heard).add(broadcast);
        self.now += 1;
    }

    /// Adds a newborn; returns its cohort, or `None` if the PE has carried out no broadcast that it could have missed.
    pub(super) fn add(&mut self) -> Option<u64> {
        if self.heard.0.is_empty() {
            return None;
        }
        let begin = || Cohort { missed: Rc::clone(&self.heard), members: 0 };
        self.cohorts.entry(self.now).or_insert_with(begin).members += 1;
        Some(self.now)
    }

    /// Removes a newborn of a cohort: it has begun, or is gone.
    pub(super) fn remove(&mut self, cohort: u64) {
        let found = self.cohorts.get_mut(&cohort).expect("a cohort stays as long as one of it does");
        found.members -= 1;
        if found.members == 0 {
            self.cohorts.remove(&cohort);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.cohorts.is_empty()
    }

    /// Whether the newborns of a cohort missed the broadcast to which a reduction belongs, if it belongs to one.
    pub(super) fn missed(&self, cohort: u64, broadcast: Option<BroadcastId>) -> bool {
        let missed = &self.cohorts[&cohort].missed;
        broadcast.is_some_and(|broadcast| missed.includes(broadcast))
    }

    /// Whether nobody who has not begun will begin with a reduction or an earlier one: all newborns have missed the broadcast to which it
    /// belongs, and so will all who are born from now on.
    pub(super) fn are_out_of(&self, broadcast: Option<BroadcastId>) -> bool {
        let is_carried_out = broadcast.is_none_or(|broadcast| self.heard.includes(broadcast));
        // Whoever was born later missed what the first missed.
        is_carried_out && self.cohorts.keys().next().is_none_or(|first| self.missed(*first, broadcast))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ids::CollectionId;

    fn broadcast(caller: u32, serial: u64) -> BroadcastId {
        BroadcastId { collection: CollectionId { creator: PeId(0), serial: 0 }, caller: PeId(caller), serial }
    }

    #[test]
    fn a_newborn_missed_what_came_before_it_in_whatever_order() {
        let mut newborns = Newborns::default();
        assert_eq!(newborns.add(), None, "there was nothing to miss");
        newborns.hear(broadcast(3, 1));
        let first = newborns.add().unwrap();
        assert_eq!(newborns.add(), Some(first));
        newborns.hear(broadcast(3, 0));
        let second = newborns.add().unwrap();
        let missed = |newborns: &Newborns, cohort| {
            [(3, 0), (3, 1), (3, 2), (4, 0)]
                .map(|(caller, serial)| newborns.missed(cohort, Some(broadcast(caller, serial))))
        };
        assert_eq!(missed(&newborns, first), [false, true, false, false]);
        assert_eq!(missed(&newborns, second), [true, true, false, false]);
        assert!(!newborns.are_out_of(Some(broadcast(3, 0))) && !newborns.are_out_of(None));
        assert!(newborns.are_out_of(Some(broadcast(3, 1))));
        newborns.remove(first);
        newborns.remove(first);
        assert!(newborns.are_out_of(Some(broadcast(3, 0))));
        newborns.remove(second);
        assert!(newborns.is_empty() && newborns.are_out_of(None));
        assert!(!newborns.are_out_of(Some(broadcast(4, 0))), "who is born now will hear it");
    }
}
