//! Route: the paths to one peer, as they are decided at start-up, and which of them still work.

use super::traffic::Traffic;
use crate::ids::NodeId;
use crate::sync::sparse::Sparse;
use std::ops::Index;
use std::sync::atomic::{AtomicBool, Ordering};

/// Which backend carries a peer's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Carrier {
    /// The peer is this node.
    Myself,
    Shm,
    Tcp,
    /// A network with one-sided access.
    Fabric,
}

/// The paths to a peer, as they are decided at start-up.
#[derive(Clone, Copy)]
pub(super) struct Route {
    pub(super) messages: Carrier,
    pub(super) mapping: bool,
    pub(super) kernel_copy: bool,
    /// The network reaches the peer's memory.
    pub(super) direct: bool,
}

pub(super) struct Peer {
    pub(super) messages: Carrier,
    /// Shareable regions of the peer are mapped. Cleared when that fails.
    pub(super) mapping: AtomicBool,
    /// The kernel copies from and to the peer's memory. Cleared when it refuses.
    pub(super) kernel_copy: AtomicBool,
    /// The network reaches the peer's memory. Cleared when it refuses.
    pub(super) direct: AtomicBool,
    pub(super) traffic: Traffic,
}

impl Peer {
    fn new(route: Route) -> Self {
        Self {
            messages: route.messages,
            mapping: AtomicBool::new(route.mapping),
            kernel_copy: AtomicBool::new(route.kernel_copy),
            direct: AtomicBool::new(route.direct),
            traffic: Traffic::default(),
        }
    }
}

/// All peers of a node: their routes, and what is known of each from the first look at it on.
pub(super) struct Peers {
    routes: Box<[Route]>,
    /// Those whose shareable regions were mapped at start-up.
    mapped: Box<[NodeId]>,
    known: Sparse<Peer>,
}

impl Peers {
    pub(super) fn new(routes: Vec<Route>) -> Self {
        let mapped =
            (0..).zip(&routes).filter(|(_, route)| route.mapping).map(|(node, _)| NodeId(node)).collect();
        Self { known: Sparse::new(routes.len()), mapped, routes: routes.into() }
    }

    /// How many nodes the job has.
    pub(super) fn len(&self) -> usize {
        self.routes.len()
    }

    /// A peer, unless the job has no such node.
    #[inline]
    pub(super) fn get(&self, node: NodeId) -> Option<&Peer> {
        let route = self.routes.get(node.index())?;
        Some(self.known.get_or_make(node.index(), || Peer::new(*route)))
    }

    /// The backend that carries a peer's messages.
    ///
    /// # Panics
    /// If the job has no such node.
    #[inline]
    pub(super) fn carrier(&self, node: NodeId) -> Carrier {
        self.routes[node.index()].messages
    }

    /// Whether shareable regions of any peer are mapped: mostly known by the first of them. Asked for each argument that is lent.
    pub(super) fn are_mapped(&self) -> bool {
        let known = |node: &NodeId| self.known.get(node.index());
        self.mapped.iter().any(|node| known(node).is_none_or(|peer| peer.mapping.load(Ordering::Relaxed)))
    }
}

impl Index<NodeId> for Peers {
    type Output = Peer;

    fn index(&self, node: NodeId) -> &Peer {
        self.get(node).expect("the job has such a node")
    }
}
