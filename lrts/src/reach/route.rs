//! Route: the paths to one peer, as they are decided at start-up, and which of them still work.

use super::traffic::Traffic;
use std::sync::atomic::AtomicBool;

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
    pub(super) fn new(route: Route) -> Self {
        Self {
            messages: route.messages,
            mapping: AtomicBool::new(route.mapping),
            kernel_copy: AtomicBool::new(route.kernel_copy),
            direct: AtomicBool::new(route.messages == Carrier::Fabric),
            traffic: Traffic::default(),
        }
    }
}
