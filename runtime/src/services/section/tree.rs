//! The tree of a section: its root, and below it the PEs where members have their homes, node by node.
//!
//! One PE of each node stands for the PEs of its node, and for a part of the other nodes. So each node receives a call once, and sends
//! the contributions of its PEs once. Calls carry the PEs that they still have to reach: nodes on their way keep nothing.

use crate::model::ids::PeId;
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

/// Splits PEs, those of a node beside each other, into the parts that go to the nodes right below. The first PE of a part belongs to the
/// node that passes the call on.
pub(super) fn branches(topology: Topology, pes: &[PeId]) -> Vec<&[PeId]> {
    let nodes: Vec<&[PeId]> =
        pes.chunk_by(|one, other| topology.node_of(*one) == topology.node_of(*other)).collect();
    let mut rest = pes;
    nodes
        .chunks(nodes.len().div_ceil(BRANCHES as usize).max(1))
        .map(|part| {
            let (branch, others) = rest.split_at(part.iter().map(|node| node.len()).sum());
            rest = others;
            branch
        })
        .collect()
}

/// The PEs on the node of `near`, and the others.
pub(super) fn split(topology: Topology, near: PeId, pes: &[PeId]) -> (Vec<PeId>, Vec<PeId>) {
    pes.iter().partition(|pe| topology.node_of(**pe) == topology.node_of(near))
}

/// The places of the root and of all `pes`, which are in order.
pub(super) fn place_all(topology: Topology, root: PeId, pes: &[PeId]) -> Vec<TreePlace> {
    let mut places = Vec::new();
    plant(topology, (root, None), pes, &mut places);
    places
}

fn plant(topology: Topology, (pe, parent): (PeId, Option<PeId>), pes: &[PeId], places: &mut Vec<TreePlace>) {
    let (near, far) = split(topology, pe, pes);
    let branches = branches(topology, &far);
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
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn every_home_has_one_place_and_every_parent_knows_how_many_are_below() {
        let topology = Topology::new(23, 3);
        for root in [PeId(0), PeId(7), PeId(68)] {
            for step in [1, 2, 5, 100] {
                let pes: Vec<PeId> = (2..69).step_by(step).map(PeId).collect();
                let places = place_all(topology, root, &pes);
                let expected: BTreeSet<PeId> = pes.iter().copied().chain([root]).collect();
                assert_eq!(places.len(), expected.len());
                assert_eq!(places.iter().map(|place| place.pe).collect::<BTreeSet<_>>(), expected);
                let mut below: BTreeMap<PeId, u64> = BTreeMap::new();
                for TreePlace { pe, parent, .. } in &places {
                    assert_eq!(parent.is_none(), *pe == root);
                    parent.inspect(|parent| *below.entry(*parent).or_default() += 1);
                }
                assert!(places.iter().all(|place| below.get(&place.pe).copied().unwrap_or(0) == place.below));
                // A PE below another node's PE stands for its whole node.
                let far = |place: &&TreePlace| {
                    place.parent.is_some_and(|parent| topology.node_of(parent) != topology.node_of(place.pe))
                };
                let nodes: Vec<_> =
                    places.iter().filter(far).map(|place| topology.node_of(place.pe)).collect();
                assert_eq!(nodes.iter().collect::<BTreeSet<_>>().len(), nodes.len());
            }
        }
    }

    #[test]
    fn nobody_is_below_a_section_without_members() {
        let place = TreePlace { pe: PeId(1), parent: None, below: 0 };
        assert_eq!(place_all(Topology::new(2, 1), PeId(1), &[]), [place]);
    }
}
