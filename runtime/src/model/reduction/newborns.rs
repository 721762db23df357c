//! Newborn members of a collection on one PE: those who were born after the PE had carried out a broadcast, and the broadcasts that each
//! missed.
//!
//! A member hears the broadcasts that its PE carries out after its birth, and has missed those before. A reduction to which members
//! contribute within a broadcast belongs to that broadcast, and who missed the broadcast takes no part in it, however late the reduction
//! begins. So a newborn stays one for its life.

use crate::base::seen_numbers::SeenNumbers;
use crate::model::ids::{BroadcastId, Index, PeId};
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

struct Newborn {
    cohort: u64,
    /// It has contributed to all reductions before this one that it has part in.
    next: u64,
}

/// The newborns on one PE.
#[derive(Default)]
pub(super) struct Newborns {
    heard: Rc<Heard>,
    /// By the order of birth: a later cohort has missed all that an earlier one has.
    cohorts: BTreeMap<u64, Cohort>,
    /// The number of the cohort of those who are born now.
    now: u64,
    members: FxHashMap<Index, Newborn>,
}

impl Newborns {
    /// Takes note that the PE carries out a broadcast.
    pub(super) fn hear(&mut self, broadcast: BroadcastId) {
        Rc::make_mut(&mut self.heard).add(broadcast);
        self.now += 1;
    }

    /// Whether the PE has carried out a broadcast.
    pub(super) fn have_heard(&self, broadcast: BroadcastId) -> bool {
        self.heard.includes(broadcast)
    }

    /// Adds a member that is born. Returns whether it is a newborn: there is something that it missed.
    pub(super) fn add(&mut self, member: Index, next: u64) -> bool {
        if self.heard.0.is_empty() {
            return false;
        }
        chare_lrts::sometimes!("a newborn missed a broadcast");
        let begin = || Cohort { missed: Rc::clone(&self.heard), members: 0 };
        self.cohorts.entry(self.now).or_insert_with(begin).members += 1;
        self.members.insert(member, Newborn { cohort: self.now, next });
        true
    }

    /// Removes a newborn that dies.
    pub(super) fn remove(&mut self, member: Index) {
        let Newborn { cohort, .. } = self.members.remove(&member).expect("a newborn is one for its life");
        let found = self.cohorts.get_mut(&cohort).expect("a cohort stays as long as one of it does");
        found.members -= 1;
        if found.members == 0 {
            self.cohorts.remove(&cohort);
        }
    }

    /// The first reduction to which a newborn may not have contributed, if the member is a newborn.
    pub(super) fn next(&self, member: Index) -> Option<u64> {
        self.members.get(&member).map(|newborn| newborn.next)
    }

    pub(super) fn set_next(&mut self, member: Index, next: u64) {
        self.members.get_mut(&member).expect("a newborn is one for its life").next = next;
    }

    /// Whether a member missed a broadcast.
    pub(super) fn missed(&self, member: Index, broadcast: BroadcastId) -> bool {
        let newborn = self.members.get(&member);
        newborn.is_some_and(|newborn| self.cohorts[&newborn.cohort].missed.includes(broadcast))
    }

    /// How many members missed a broadcast.
    pub(super) fn count_missed(&self, broadcast: BroadcastId) -> u64 {
        // Whoever was born before somebody who missed nothing missed nothing either.
        let later = self.cohorts.values().rev().take_while(|cohort| cohort.missed.includes(broadcast));
        later.map(|cohort| cohort.members).sum()
    }

    /// The members that missed a broadcast.
    pub(super) fn that_missed(&self, broadcast: BroadcastId) -> impl Iterator<Item = Index> {
        let missed = move |newborn: &Newborn| self.cohorts[&newborn.cohort].missed.includes(broadcast);
        self.members.iter().filter(move |(_, newborn)| missed(newborn)).map(|(member, _)| *member)
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
        let members = [1, 2, 3, 4].map(Index::from);
        assert!(!newborns.add(members[0], 0), "there was nothing to miss");
        newborns.hear(broadcast(3, 1));
        assert!(newborns.add(members[1], 0) && newborns.add(members[2], 0));
        newborns.hear(broadcast(3, 0));
        assert!(newborns.add(members[3], 5));
        let calls = [(3, 0), (3, 1), (3, 2), (4, 0)].map(|(caller, serial)| broadcast(caller, serial));
        let missed = |newborns: &Newborns, member| calls.map(|call| newborns.missed(member, call));
        assert_eq!(missed(&newborns, members[0]), [false; 4]);
        assert_eq!(missed(&newborns, members[1]), [false, true, false, false]);
        assert_eq!(missed(&newborns, members[3]), [true, true, false, false]);
        assert_eq!(calls.map(|call| newborns.count_missed(call)), [1, 3, 0, 0]);
        assert_eq!(newborns.that_missed(calls[0]).collect::<Vec<_>>(), [members[3]]);
        assert_eq!([members[0], members[3]].map(|member| newborns.next(member)), [None, Some(5)]);
        newborns.remove(members[3]);
        newborns.remove(members[1]);
        assert_eq!(calls.map(|call| newborns.count_missed(call)), [0, 1, 0, 0]);
        newborns.remove(members[2]);
        assert!(newborns.cohorts.is_empty() && newborns.members.is_empty());
    }
}
