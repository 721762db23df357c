//! Hosts of a job: which nodes are on which, each known by its lowest node.

use crate::model::ids::NodeId;

/// The place of a node: its host, and which of the host's nodes it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct HostPosition {
    pub(super) host: u32,
    pub(super) position: u32,
}

/// The hosts, in the order of their lowest nodes.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Hosts {
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
    pub(super) fn new(lowest: &[NodeId]) -> Self {
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

    pub(super) fn place(&self, node: NodeId) -> HostPosition {
        self.places[node.index()]
    }

    /// How many hosts there are.
    pub(super) fn count(&self) -> u32 {
        self.nodes.len() as u32
    }

    /// The nodes of a host, in order.
    pub(super) fn nodes(&self, host: u32) -> &[NodeId] {
        &self.nodes[host as usize]
    }
}
