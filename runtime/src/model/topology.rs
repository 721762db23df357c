//! Topology of a job: its nodes, the PEs of each node, the host of each node, and the tree that broadcasts and reductions follow over
//! hosts and nodes.
//!
//! ```text
//!                 root ------ leads its host             hosts: a tree of 4 branches over their leaders
//!               /  |   \
//!         leader leader  nodes of the root's host        a host: a tree of 4 branches over its nodes
//!          /  \
//!     leader  nodes of its host
//! ```
//! 1. Nodes of one host have met (see `chare_lrts::bootstrap::hosts`): they share memory, or could. With `+nolocal` each node has a host of
//!    its own.
//! 2. The lowest node of a host leads it; the root leads its own. So a message to all nodes goes to each other host once, whichever node
//!    is the root and however nodes are spread over hosts.

use crate::model::ids::{NodeId, PeId};
use std::sync::Arc;

/// The nodes of a job, with equally many PEs each, numbered node by node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Topology {
    nodes: u32,
    pes_per_node: u32,
    hosts: Arc<Hosts>,
}

impl Topology {
    /// The topology of nodes that agree, one after another, which is the lowest node of their host.
    pub(crate) fn new(lowest: &[NodeId], pes_per_node: u32) -> Self {
        Self { nodes: lowest.len() as u32, pes_per_node, hosts: Arc::new(Hosts::new(lowest)) }
    }

    #[cfg(test)]
    pub(crate) fn on_one_host(nodes: u32, pes_per_node: u32) -> Self {
        Self::new(&vec![NodeId(0); nodes as usize], pes_per_node)
    }

    pub(crate) fn nodes(&self) -> u32 {
        self.nodes
    }

    pub(crate) fn pes_per_node(&self) -> u32 {
        self.pes_per_node
    }

    pub(crate) fn pes(&self) -> u32 {
        self.nodes * self.pes_per_node
    }

    /// The PE of this job that a PE in a name stands for: in the name of a chare, collection, section or future. A name may be of a job that had
    /// more PEs, or forged.
    ///
    /// # Errors
    /// When the job has no such PE, in words.
    pub(crate) fn seat_of(&self, named: PeId) -> Result<PeId, String> {
        let pes = self.pes();
        if named.0 < pes { Ok(named) } else { Err(format!("there is no {named}: the job has {pes} PEs")) }
    }

    pub(crate) fn node_of(&self, pe: PeId) -> NodeId {
        NodeId(pe.0 / self.pes_per_node)
    }

    /// The PE's position within its node.
    pub(crate) fn rank_of(&self, pe: PeId) -> usize {
        (pe.0 % self.pes_per_node) as usize
    }

    pub(crate) fn pe(&self, node: NodeId, rank: u32) -> PeId {
        PeId(node.0 * self.pes_per_node + rank)
    }

    pub(crate) fn pes_of(&self, node: NodeId) -> impl ExactSizeIterator<Item = PeId> + use<> {
        let first = node.0 * self.pes_per_node;
        (first..first + self.pes_per_node).map(PeId)
    }

    /// How many hosts there are.
    pub(crate) fn hosts(&self) -> u32 {
        self.hosts.count()
    }

    /// The number of the node's host among the hosts of the job.
    pub(crate) fn host_of(&self, node: NodeId) -> u32 {
        self.hosts.place(node).host
    }

    /// The nodes right below `node` in the tree whose root is `root`, those of other hosts first: they have the longer way.
    pub(crate) fn children(&self, node: NodeId, root: NodeId) -> impl Iterator<Item = NodeId> {
        let (HostPosition { host, position }, top) = (self.hosts.place(node), self.hosts.place(root));
        let leader = leading(host, top);
        let over_hosts = Ring { first: top.host, len: self.hosts.count() };
        let far = (position == leader).then(|| over_hosts.below(host)).into_iter().flatten();
        let far = far.map(move |host| self.hosts.nodes(host)[leading(host, top) as usize]);
        let mates = self.hosts.nodes(host);
        let near = Ring { first: leader, len: mates.len() as u32 }.below(position);
        far.chain(near.map(|position| mates[position as usize]))
    }

    /// How many PEs there are on `node` and on the nodes below it in the tree whose root is `root`.
    pub(crate) fn pes_below(&self, node: NodeId, root: NodeId) -> u64 {
        let below: u64 = self.children(node, root).map(|child| self.pes_below(child, root)).sum();
        u64::from(self.pes_per_node) + below
    }

    /// Whether `node` is `above` or below it, in the tree whose root is `root`.
    pub(crate) fn is_below(&self, node: NodeId, above: NodeId, root: NodeId) -> bool {
        std::iter::successors(Some(node), |node| self.parent(*node, root)).any(|node| node == above)
    }

    /// The node above `node` in the tree whose root is `root`; `None` for the root itself.
    pub(crate) fn parent(&self, node: NodeId, root: NodeId) -> Option<NodeId> {
        let (HostPosition { host, position }, top) = (self.hosts.place(node), self.hosts.place(root));
        let mates = self.hosts.nodes(host);
        if let Some(above) = (Ring { first: leading(host, top), len: mates.len() as u32 }).above(position) {
            return Some(mates[above as usize]);
        }
        let above = Ring { first: top.host, len: self.hosts.count() }.above(host)?;
        Some(self.hosts.nodes(above)[leading(above, top) as usize])
    }
}

/// Which of a host's nodes leads it, in the tree whose root has the place `top`.
fn leading(host: u32, top: HostPosition) -> u32 {
    if host == top.host { top.position } else { 0 }
}

/// Children of a place: enough for the tree to be shallow, few enough that the first place is not the bottleneck.
pub(crate) const BRANCHES: u32 = 4;

/// Numbered places in a circle, which form a tree from any first place on, level by level: so many places, and the first of the tree over
/// them.
#[derive(Clone, Copy)]
struct Ring {
    first: u32,
    len: u32,
}

impl Ring {
    /// The places right below one.
    fn below(self, at: u32) -> impl Iterator<Item = u32> {
        let Self { first, len } = self;
        let rank = u64::from((at + len - first) % len);
        (1..=u64::from(BRANCHES))
            .map(move |branch| rank * u64::from(BRANCHES) + branch)
            .filter(move |child| *child < u64::from(len))
            .map(move |child| (child as u32 + first) % len)
    }

    /// The place right above one; `None` for the first.
    fn above(self, at: u32) -> Option<u32> {
        let Self { first, len } = self;
        let rank = (at + len - first) % len;
        (rank > 0).then(|| ((rank - 1) / BRANCHES + first) % len)
    }
}

/// The place of a node: its host, and which of the host's nodes it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct HostPosition {
    host: u32,
    position: u32,
}

/// The hosts, in the order of their lowest nodes.
#[derive(PartialEq, Eq, Debug)]
struct Hosts {
    /// By node.
    places: Box<[HostPosition]>,
    /// By host: its nodes, in order.
    nodes: Vec<Vec<NodeId>>,
}

impl Hosts {
    /// The hosts of nodes that say, one after another, which is the lowest on their host.
    ///
    /// # Panics
    /// If a node says one that is not its own host's lowest; the nodes have agreed before.
    fn new(lowest: &[NodeId]) -> Self {
        let mut places: Vec<HostPosition> = Vec::with_capacity(lowest.len());
        let mut nodes: Vec<Vec<NodeId>> = Vec::new();
        for (node, lowest) in (0..).map(NodeId).zip(lowest) {
            if *lowest == node {
                nodes.push(Vec::new());
            }
            let host = places.get(lowest.index()).map_or(nodes.len() as u32 - 1, |place| place.host);
            let mates = &mut nodes[host as usize];
            places.push(HostPosition { host, position: mates.len() as u32 });
            mates.push(node);
            assert_eq!(mates[0], *lowest, "the lowest node of the host of {node}");
        }
        Self { places: places.into(), nodes }
    }

    fn place(&self, node: NodeId) -> HostPosition {
        self.places[node.index()]
    }

    /// How many hosts there are.
    fn count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The nodes of a host, in order.
    fn nodes(&self, host: u32) -> &[NodeId] {
        &self.nodes[host as usize]
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt, SeedableRng};

    /// Nodes spread over hosts in blocks, in turn, or anyhow.
    pub(crate) fn spread(nodes: u32, hosts: u32, seed: u64) -> Vec<NodeId> {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut on = |node: u32| match seed % 3 {
            0 => node * hosts / nodes,
            1 => node % hosts,
            _ => random.random_range(0..hosts),
        };
        let hosts: Vec<u32> = (0..nodes).map(&mut on).collect();
        let lowest = |host| hosts.iter().position(|other| other == host).expect("its own at least");
        hosts.iter().map(|host| NodeId(lowest(host) as u32)).collect()
    }

    #[test]
    fn the_tree_reaches_every_node_once_and_every_other_host_once_from_any_root() {
        for seed in 0..300 {
            let mut random = ChaCha8Rng::seed_from_u64(seed);
            let nodes = random.random_range(1..40);
            let topology = Topology::new(&spread(nodes, random.random_range(1..=nodes), seed), 1);
            let hosts = topology.hosts.count() as usize;
            for root in (0..nodes).map(NodeId) {
                let (mut reached, mut at, mut crossings) = (vec![root], 0, 0);
                while at < reached.len() {
                    let parent = reached[at];
                    for child in topology.children(parent, root) {
                        assert!(
                            topology.is_below(child, root, root) && !topology.is_below(parent, child, root)
                        );
                        assert_eq!(topology.parent(child, root), Some(parent));
                        crossings += usize::from(topology.host_of(child) != topology.host_of(parent));
                        reached.push(child);
                    }
                    at += 1;
                }
                assert_eq!(topology.parent(root, root), None);
                assert_eq!(crossings, hosts - 1, "seed {seed}, {root}: {topology:?}");
                assert_eq!(topology.pes_below(root, root), u64::from(nodes));
                reached.sort();
                assert_eq!(reached, (0..nodes).map(NodeId).collect::<Vec<_>>(), "seed {seed}, {root}");
            }
        }
    }

    #[test]
    fn one_host_and_hosts_of_one_node_have_the_same_tree() {
        for nodes in [1, 2, 5, 6, 23] {
            let alone: Vec<NodeId> = (0..nodes).map(NodeId).collect();
            let (together, apart) = (Topology::on_one_host(nodes, 1), Topology::new(&alone, 1));
            for (node, root) in alone.iter().flat_map(|node| alone.iter().map(move |root| (*node, *root))) {
                assert!(together.children(node, root).eq(apart.children(node, root)));
            }
        }
    }

    #[test]
    fn two_hosts_of_eight_nodes_are_joined_by_one_edge() {
        let topology = Topology::new(&spread(16, 2, 0), 1);
        let children = |node, root| -> Vec<u32> {
            topology.children(NodeId(node), NodeId(root)).map(|child| child.0).collect()
        };
        assert_eq!(children(0, 0), [8, 1, 2, 3, 4]);
        assert_eq!(children(8, 0), [9, 10, 11, 12]);
        assert_eq!(children(9, 0), [13, 14, 15]);
        assert_eq!(children(11, 11), [0, 12, 13, 14, 15]);
    }
}
