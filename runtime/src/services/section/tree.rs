//! The tree of a section: its root, and below it the PEs where members have their homes, host by host and node by node.
//!
//! One PE of each node stands for the PEs of its node, and one node of each host for the nodes of its host; either may stand for some of
//! the other nodes or hosts, too. So each node receives a call once, each host once from another, and each node sends the contributions
//! of its PEs once. Calls carry the PEs that they still have to reach: nodes on their way keep nothing.

use crate::model::ids::{NodeId, PeId};
use crate::model::topology::{BRANCHES, Topology};

/// One PE's place in the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TreePlace {
    pub(super) pe: PeId,
    /// The PE above; the root has none.
    pub(super) parent: Option<PeId>,
    /// How many PEs are right below.
    pub(super) below: u64,
}

/// PEs in the order of a tree: those of the root's host, then those of the other hosts, and on each host node by node.
pub(super) fn in_order(topology: &Topology, root: PeId, pes: impl Iterator<Item = PeId>) -> Vec<PeId> {
    let host = |pe| topology.host_of(topology.node_of(pe));
    let mut pes: Vec<PeId> = pes.collect();
    pes.sort_by_key(|pe| (host(*pe) != host(root), host(*pe), *pe));
    pes
}

/// Splits PEs of other nodes than `near`, which are in order, into the parts that go to the nodes right below `near`: of other hosts,
/// then of its own. The first PE of a part belongs to the node that passes the call on.
pub(super) fn branches<'a>(topology: &Topology, near: NodeId, pes: &'a [PeId]) -> Vec<&'a [PeId]> {
    let host = |pe| topology.host_of(topology.node_of(pe));
    let (mates, others) = pes.split_at(pes.partition_point(|pe| host(*pe) == topology.host_of(near)));
    let mut parts = cut(others, host);
    parts.extend(cut(mates, |pe| topology.node_of(pe)));
    parts
}

/// Cuts PEs, those of a group beside each other, into parts of equally many groups.
fn cut<G: PartialEq>(pes: &[PeId], group: impl Fn(PeId) -> G) -> Vec<&[PeId]> {
    let groups: Vec<&[PeId]> = pes.chunk_by(|one, other| group(*one) == group(*other)).collect();
    let mut rest = pes;
    groups
        .chunks(groups.len().div_ceil(BRANCHES as usize).max(1))
        .map(|part| {
            let (branch, others) = rest.split_at(part.iter().map(|group| group.len()).sum());
            rest = others;
            branch
        })
        .collect()
}

/// The PEs on the node of `near`, and the others.
pub(super) fn split(topology: &Topology, near: PeId, pes: &[PeId]) -> (Vec<PeId>, Vec<PeId>) {
    pes.iter().partition(|pe| topology.node_of(**pe) == topology.node_of(near))
}

/// The places of the root and of all `pes`, which are in order.
pub(super) fn place_all(topology: &Topology, root: PeId, pes: &[PeId]) -> Vec<TreePlace> {
    let mut places = Vec::new();
    plant(topology, (root, None), pes, &mut places);
    places
}

fn plant(topology: &Topology, (pe, parent): (PeId, Option<PeId>), pes: &[PeId], places: &mut Vec<TreePlace>) {
    let (near, far) = split(topology, pe, pes);
    let branches = branches(topology, topology.node_of(pe), &far);
    let mates: Vec<PeId> = near.into_iter().filter(|mate| *mate != pe).collect();
    places.push(TreePlace { pe, parent, below: (mates.len() + branches.len()) as u64 });
    places.extend(mates.into_iter().map(|mate| TreePlace { pe: mate, parent: Some(pe), below: 0 }));
    for branch in branches {
        plant(topology, (branch[0], Some(pe)), branch, places);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::topology::tests::spread;
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_home_has_one_place_and_every_parent_knows_how_many_are_below() {
        for (seed, hosts) in [(0, 1), (0, 23), (0, 3), (1, 5), (2, 4), (5, 9)] {
            let topology = Topology::new(&spread(23, hosts, seed), 3);
            let (node, host) = (|pe| topology.node_of(pe), |pe| topology.host_of(topology.node_of(pe)));
            for root in [PeId(0), PeId(7), PeId(68)] {
                for step in [1, 2, 5, 100] {
                    let pes = in_order(&topology, root, (2..69).step_by(step).map(PeId));
                    let places = place_all(&topology, root, &pes);
                    let expected: BTreeSet<PeId> = pes.iter().copied().chain([root]).collect();
                    assert_eq!(places.len(), expected.len());
                    assert_eq!(places.iter().map(|place| place.pe).collect::<BTreeSet<_>>(), expected);
                    let mut below: BTreeMap<PeId, u64> = BTreeMap::new();
                    for TreePlace { pe, parent, .. } in &places {
                        assert_eq!(parent.is_none(), *pe == root);
                        parent.inspect(|parent| *below.entry(*parent).or_default() += 1);
                    }
                    assert!(
                        places.iter().all(|place| below.get(&place.pe).copied().unwrap_or(0) == place.below)
                    );
                    // A PE below another node's PE stands for its whole node, and one below another host's for its whole host.
                    let edges: Vec<(PeId, PeId)> =
                        places.iter().filter_map(|place| Some((place.parent?, place.pe))).collect();
                    let between = |edges: &[(PeId, PeId)], part: &dyn Fn(PeId) -> u32| -> Vec<u32> {
                        let crossing = edges.iter().filter(|(parent, pe)| part(*parent) != part(*pe));
                        crossing.map(|(_, pe)| part(*pe)).collect()
                    };
                    for part in [&|pe| node(pe).0, &host] as [&dyn Fn(PeId) -> u32; 2] {
                        let reached = between(&edges, part);
                        let all: BTreeSet<u32> = expected.iter().map(|pe| part(*pe)).collect();
                        assert_eq!(reached.len(), all.len() - 1);
                        assert_eq!(reached.into_iter().chain([part(root)]).collect::<BTreeSet<_>>(), all);
                    }
                }
            }
        }
    }

    #[test]
    fn nobody_is_below_a_section_without_members() {
        let place = TreePlace { pe: PeId(1), parent: None, below: 0 };
        assert_eq!(place_all(&Topology::on_one_host(2, 1), PeId(1), &[]), [place]);
    }
}
