//! What is so in the explored world, whoever knows it: who lives, who has heard what, and what is wrong.

use super::SENDS_MAX;
use std::collections::{BTreeMap, BTreeSet};

/// What is so, and the first fault.
pub(super) struct Truth {
    /// The index of each element that lives.
    alive: BTreeMap<u64, u64>,
    /// How many were born with each index.
    births: BTreeMap<u64, u64>,
    /// Calls, and those of them that were delivered, or are kept for who may come.
    asked: u64,
    delivered: BTreeSet<u64>,
    /// Who is to hear each broadcast, and has not yet.
    to_hear: BTreeSet<(u64, u64)>,
    /// What was contributed to the reductions of each callback, by home, and what of it was closed.
    contributed: BTreeMap<(usize, u64), u64>,
    closed: BTreeMap<(usize, u64), u64>,
    /// The most sends of a call or copy in search of one element.
    pub(super) sends_max: u32,
    pub(super) moves: u64,
    pub(super) fault: Option<String>,
}

impl Truth {
    pub(super) fn new(elements: u64) -> Self {
        Self {
            alive: (0..elements).map(|index| (index, index)).collect(),
            births: BTreeMap::new(),
            asked: 0,
            delivered: BTreeSet::new(),
            to_hear: BTreeSet::new(),
            contributed: BTreeMap::new(),
            closed: BTreeMap::new(),
            sends_max: 0,
            moves: 0,
            fault: None,
        }
    }

    pub(super) fn fail(&mut self, what: String) {
        self.fault.get_or_insert(what);
    }

    pub(super) fn is_alive(&self, index: u64) -> bool {
        self.alive.values().any(|alive| *alive == index)
    }

    pub(super) fn bear(&mut self, id: u64, index: u64) {
        if self.is_alive(index) {
            self.fail(format!("{index} is inserted twice"));
        }
        self.alive.insert(id, index);
        *self.births.entry(index).or_default() += 1;
    }

    pub(super) fn births(&self, index: u64) -> u64 {
        self.births.get(&index).copied().unwrap_or_default()
    }

    pub(super) fn end(&mut self, id: u64) {
        self.alive.remove(&id);
        self.to_hear.retain(|(_, by)| *by != id);
    }

    /// An insertion is refused, before which so many were born with the index and have ended.
    pub(super) fn refuse(&mut self, (index, id): (u64, u64), after: Option<u64>) {
        if after == Some(self.births(index)) {
            self.fail(format!("the insertion of {id} is refused, whose predecessor has ended"));
        }
    }

    /// Numbers a call.
    pub(super) fn ask(&mut self) -> u64 {
        self.asked += 1;
        self.asked
    }

    pub(super) fn keep(&mut self, call: u64) {
        self.deliver(call, 0);
    }

    /// Counts one more send in search of one element: the last may be the way back from where it ended.
    pub(super) fn count(&mut self, sends: u32) -> u32 {
        if sends > SENDS_MAX {
            self.fail(format!("a call is sent {} times", sends + 1));
        }
        sends + 1
    }

    pub(super) fn deliver(&mut self, call: u64, sends: u32) {
        if !self.delivered.insert(call) {
            self.fail(format!("call {call} is delivered twice"));
        }
        self.measure(sends);
    }

    pub(super) fn measure(&mut self, sends: u32) {
        self.sends_max = self.sends_max.max(sends);
        if sends > SENDS_MAX {
            self.fail(format!("a call is sent {sends} times"));
        }
    }

    /// A home carries out a broadcast, and counts these elements.
    pub(super) fn carry_out(&mut self, broadcast: u64, counted: impl Iterator<Item = u64>) {
        let living = counted.filter(|id| self.alive.contains_key(id));
        self.to_hear.extend(living.map(|id| (broadcast, id)));
    }

    pub(super) fn hear(&mut self, broadcast: u64, id: u64) {
        if !self.to_hear.remove(&(broadcast, id)) {
            self.fail(format!("{id} hears broadcast {broadcast}, twice or as another's successor"));
        }
    }

    pub(super) fn contribute(&mut self, reduction: (usize, u64), weight: u64) {
        *self.contributed.entry(reduction).or_default() += weight;
    }

    pub(super) fn close(&mut self, reduction: (usize, u64), is_of_all: bool, sum: u64) {
        if is_of_all && self.closed.contains_key(&reduction) {
            self.fail(format!("reduction {reduction:?} is over twice"));
        }
        *self.closed.entry(reduction).or_default() += sum;
    }

    /// Nothing is under way any more. Calls of who has ended are kept, which the world looks at.
    pub(super) fn finish(&mut self) {
        if self.delivered.len() as u64 != self.asked {
            self.fail(format!("of {} calls, these were delivered: {:?}", self.asked, self.delivered));
        }
        if !self.to_hear.is_empty() {
            self.fail(format!("never heard: {:?}", self.to_hear));
        }
        if self.contributed.iter().any(|(reduction, sum)| self.closed.get(reduction) != Some(sum)) {
            self.fail(format!("contributed {:?}, closed {:?}", self.contributed, self.closed));
        }
    }
}
