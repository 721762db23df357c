//! Elements as their home counts them in reductions: with the contributions of [`crate::model::reduction`], as if all of them lived there.

use super::message::Contribution;
use super::truth::Truth;
use crate::model::callback::Callback;
use crate::model::ids::{BroadcastId, CollectionId, Index, PeId};
use crate::model::reduction::reducers::sum;
use crate::model::reduction::{Contributions, Partial, Share};
use crate::model::registry::Standing;
use std::collections::BTreeMap;

const COLLECTION: CollectionId = CollectionId { creator: PeId(0), serial: 0 };

fn broadcast_id(serial: u64) -> BroadcastId {
    BroadcastId { collection: COLLECTION, caller: PeId(0), serial }
}

/// What a contribution of an element adds to a sum.
pub(super) fn weight(id: u64) -> u64 {
    (id + 1) * (id + 1)
}

/// The elements that have their home on one PE.
pub(super) struct Counted {
    home: usize,
    contributions: Contributions,
    /// Who has each index, and how many of his contributions were taken.
    who: BTreeMap<u64, (u64, u64)>,
}

impl Counted {
    pub(super) fn new(home: usize, indices: &[u64]) -> Self {
        let contributions = Contributions::new(indices.len() as u64, true);
        Self { home, contributions, who: indices.iter().map(|index| (*index, (*index, 0))).collect() }
    }

    /// Who has an index.
    pub(super) fn find(&self, index: u64) -> Option<u64> {
        self.who.get(&index).map(|(id, _)| *id)
    }

    pub(super) fn add_member(&mut self, index: u64, id: u64) -> Standing {
        self.who.insert(index, (id, 0));
        self.contributions.add_member(Index::from(index))
    }

    pub(super) fn remove_member(&mut self, index: u64, standing: Standing, truth: &mut Truth) {
        self.who.remove(&index);
        self.contributions.remove_member(Index::from(index), standing);
        self.close(truth);
    }

    /// Takes note that the home carries out a broadcast.
    pub(super) fn hear(&mut self, number: u64, truth: &mut Truth) {
        self.contributions.hear(broadcast_id(number));
        self.close(truth);
        truth.carry_out(number, self.who.values().map(|(id, _)| *id));
    }

    /// Adds a contribution; returns the standing of its maker after it.
    pub(super) fn add(
        &mut self,
        index: u64,
        contribution: Contribution,
        standing: Standing,
        truth: &mut Truth,
    ) -> Standing {
        let Contribution { callback, within, by, nth } = contribution;
        let who = self.who.get(&index).copied();
        if who != Some((by, nth)) {
            truth.fail(format!("contribution {nth} of {by} comes, and the next is {who:?}"));
            return standing;
        }
        self.who.insert(index, (by, nth + 1));
        let to = Callback::<u64>::ignore().with_reference(callback).erase();
        let share = Share::new(sum(weight(by)).of_member(Index::from(index), || 0), to);
        let contributor = (Index::from(index), standing);
        match self.contributions.add(contributor, within.map(broadcast_id), share) {
            Ok((then, closed)) => {
                closed.into_iter().for_each(|(_, partial)| self.tell(*partial, truth));
                then
            }
            Err(refusal) => {
                truth.fail(format!("{by} takes no part: {refusal:?}"));
                standing
            }
        }
    }

    /// The callbacks of the reductions that are not closed.
    pub(super) fn each_open(&self) -> impl Iterator<Item = u64> {
        self.contributions.each_open().map(|open| open.name.callback.reference)
    }

    fn close(&mut self, truth: &mut Truth) {
        while let Some((_, partial)) = self.contributions.close() {
            self.tell(*partial, truth);
        }
    }

    fn tell(&self, partial: Partial, truth: &mut Truth) {
        let (reduction, is_of_all) = ((self.home, partial.callback.reference), partial.within.is_some());
        let sum = match partial.contributed {
            0 => 0,
            _ => partial.finish().unwrap().take::<u64>().ok().unwrap(),
        };
        truth.close(reduction, is_of_all, sum);
    }
}
