//! Topology of a job: its nodes, the PEs of each node, and the tree that broadcasts and reductions follow over the nodes.

use crate::model::ids::{NodeId, PeId};

/// Children of a node in the tree: enough to be shallow, few enough that the root is not the bottleneck.
pub(crate) const BRANCHES: u32 = 4;

/// The nodes of a job, with equally many PEs each, numbered node by node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Topology {
    nodes: u32,
    pes_per_node: u32,
}

impl Topology {
    pub(crate) fn new(nodes: u32, pes_per_node: u32) -> Self {
        Self { nodes, pes_per_node }
    }

    pub(crate) fn nodes(self) -> u32 {
        self.nodes
    }

    pub(crate) fn pes_per_node(self) -> u32 {
        self.pes_per_node
    }

    pub(crate) fn pes(self) -> u32 {
        self.nodes * self.pes_per_node
    }

    pub(crate) fn node_of(self, pe: PeId) -> NodeId {
        NodeId(pe.0 / self.pes_per_node)
    }

    /// The PE's position within its node.
    pub(crate) fn rank_of(self, pe: PeId) -> usize {
        (pe.0 % self.pes_per_node) as usize
    }

    pub(crate) fn pe(self, node: NodeId, rank: u32) -> PeId {
        PeId(node.0 * self.pes_per_node + rank)
    }

    pub(crate) fn pes_of(self, node: NodeId) -> impl Iterator<Item = PeId> {
        (0..self.pes_per_node).map(move |rank| self.pe(node, rank))
    }

    /// The nodes below `node` in the tree whose root is `root`.
    pub(crate) fn children(self, node: NodeId, root: NodeId) -> impl Iterator<Item = NodeId> {
        let place = u64::from((node.0 + self.nodes - root.0) % self.nodes);
        (1..=u64::from(BRANCHES))
            .map(move |branch| place * u64::from(BRANCHES) + branch)
            .filter(move |child| *child < u64::from(self.nodes))
            .map(move |child| NodeId((child as u32 + root.0) % self.nodes))
    }

    /// How many PEs there are on `node` and on the nodes below it in the tree whose root is `root`.
    pub(crate) fn pes_below(self, node: NodeId, root: NodeId) -> u64 {
        let below: u64 = self.children(node, root).map(|child| self.pes_below(child, root)).sum();
        u64::from(self.pes_per_node) + below
    }

    /// The node above `node` in the tree whose root is `root`; `None` for the root itself.
    pub(crate) fn parent(self, node: NodeId, root: NodeId) -> Option<NodeId> {
        let place = (node.0 + self.nodes - root.0) % self.nodes;
        (place > 0).then(|| NodeId(((place - 1) / BRANCHES + root.0) % self.nodes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_reaches_every_node_once_from_any_root() {
        for nodes in [1, 2, 5, 6, 23] {
            let topology = Topology::new(nodes, 1);
            for root in (0..nodes).map(NodeId) {
                let mut reached = vec![root];
                let mut at = 0;
                while at < reached.len() {
                    let parent = reached[at];
                    for child in topology.children(parent, root) {
                        assert_eq!(topology.parent(child, root), Some(parent));
                        reached.push(child);
                    }
                    at += 1;
                }
                reached.sort();
                assert_eq!(reached, (0..nodes).map(NodeId).collect::<Vec<_>>());
            }
        }
    }
}
