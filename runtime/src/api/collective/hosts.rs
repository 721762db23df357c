//! Hosts of an exchange's seats: which seats share the host, and which are on each of the others.

use crate::model::collection::CollectionInfo;
use crate::model::ids::{CollectionId, PeId};
use crate::model::index::ArrayIndex;
use crate::pe::Pe;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The seats as one of them sees them; the lowest of a host leads it.
pub(super) struct SeatHosts {
    /// Those of its own host, in order.
    pub(super) mates: Vec<u64>,
    /// Those of each other host, in order.
    pub(super) others: Vec<Vec<u64>>,
    info: Arc<CollectionInfo>,
}

impl SeatHosts {
    /// Costs a look at each seat's home; seats stay there.
    pub(super) fn of(pe: &Pe, seats: CollectionId) -> Self {
        let places = pe.places.borrow();
        let info = &places.collection(seats).expect("a seat's PE knows its collection").info;
        let mut hosts: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        for home in (0..info.topology.pes()).map(PeId) {
            let host = info.topology.host_of(info.topology.node_of(home));
            let seats = info.members_on(home).into_iter().filter_map(u64::unpack);
            hosts.entry(host).or_default().extend(seats);
        }
        hosts.values_mut().for_each(|seats| seats.sort_unstable());
        let mates = hosts.remove(&info.topology.host_of(pe.node.id)).unwrap_or_default();
        let others = hosts.into_values().filter(|seats| !seats.is_empty()).collect();
        Self { mates, others, info: Arc::clone(info) }
    }

    /// Whether there is such a member.
    pub(super) fn has(&self, member: u64) -> bool {
        self.is_mate(member) || self.is_elsewhere(member)
    }

    /// Whether a member is on this host.
    pub(super) fn is_mate(&self, member: u64) -> bool {
        self.mates.binary_search(&member).is_ok()
    }

    /// Whether a member is on another host.
    pub(super) fn is_elsewhere(&self, member: u64) -> bool {
        self.others.iter().any(|seats| seats.binary_search(&member).is_ok())
    }

    /// The PE of a member, if there is such a member.
    pub(super) fn home_of(&self, member: u64) -> Option<PeId> {
        self.has(member).then(|| self.info.home(member.pack()))
    }

    /// How many members there are.
    pub(super) fn members(&self) -> usize {
        self.mates.len() + self.others.iter().map(Vec::len).sum::<usize>()
    }

    /// The seats of this host from the right neighbour of one on, so that not all call the same one at a time.
    pub(super) fn mates_after(&self, me: u64) -> impl Iterator<Item = u64> {
        let (before, after) = self.mates.split_at(self.mates.partition_point(|mate| *mate <= me));
        after.iter().chain(before).copied()
    }

    /// Whether there are members on other hosts.
    pub(super) fn has_others(&self) -> bool {
        !self.others.is_empty()
    }
}
