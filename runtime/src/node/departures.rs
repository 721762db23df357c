//! Messages on their way to other nodes, and those that wait: for room in the network, or for credit (see [`crate::node::credit`]).
//!
//! 1. What costs nothing is sent in order, and so is what has a cost. What costs nothing overtakes what waits for credit.
//! 2. What is paid for goes as soon as the network has room for it.
//! 3. Whoever gets credit back sends what waits for it, under the lock under which others make messages wait: none is left behind.
//!
//! What waits for credit may take a quarter of the host's memory; a message beyond that ends the job.

use super::credit::{Account, WINDOW_BYTES};
use crate::base::host_memory::kept_bytes_max;
use crate::model::envelope::frame::Packed;
use crate::model::ids::NodeId;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What may wait for credit of one node before the PE that sends more has to wait itself: as much as is on its way, so that the
/// network never runs dry.
pub(super) const ROOM_BYTES: u64 = WINDOW_BYTES;

/// What waits for one node, oldest first.
#[derive(Default)]
pub(super) struct SendQueue {
    /// For room. It is paid for or costs nothing.
    pub(super) refused: VecDeque<Packed>,
    /// For credit, with their costs.
    pub(super) withheld: VecDeque<(Packed, u32)>,
}

/// The way to one other node.
pub(super) struct Departure {
    pub(super) account: Account,
    pub(super) waiting: Mutex<SendQueue>,
    /// Costs of what is withheld. Written under the lock.
    pub(super) withheld_bytes: AtomicU64,
    /// What may be withheld before senders wait. Grows while the other node is silent: see [`crate::node::backpressure`].
    pub(super) room_bytes: AtomicU64,
    /// How often credit came back, for those who wait for it.
    pub(super) refunds: AtomicU64,
}

impl Departure {
    fn new() -> Self {
        Self {
            account: Account::default(),
            waiting: Mutex::default(),
            withheld_bytes: AtomicU64::new(0),
            room_bytes: AtomicU64::new(ROOM_BYTES),
            refunds: AtomicU64::new(0),
        }
    }
}

/// The ways to all nodes.
pub(crate) struct Departures {
    pub(super) by_node: Vec<Departure>,
    /// Messages that wait, for those who poll.
    pub(super) waiting_count: AtomicUsize,
    /// Costs of all that is withheld.
    pub(super) withheld_bytes: AtomicU64,
    pub(super) withheld_bytes_max: u64,
}

impl Departures {
    pub(crate) fn new(nodes: u32) -> Self {
        Self {
            by_node: (0..nodes).map(|_| Departure::new()).collect(),
            waiting_count: AtomicUsize::new(0),
            withheld_bytes: AtomicU64::new(0),
            withheld_bytes_max: kept_bytes_max(),
        }
    }

    pub(crate) fn are_waiting(&self) -> bool {
        self.waiting_count.load(Ordering::Relaxed) > 0
    }

    /// The credit between this node and another.
    pub(crate) fn account(&self, peer: NodeId) -> &Account {
        &self.by_node[peer.index()].account
    }

    /// What may be withheld from a node, in bytes, if more than that is: whoever sent it should wait.
    #[inline]
    pub(crate) fn overfull(&self, peer: NodeId) -> Option<u64> {
        let Departure { withheld_bytes, room_bytes, .. } = &self.by_node[peer.index()];
        let withheld = withheld_bytes.load(Ordering::Relaxed);
        let room = room_bytes.load(Ordering::Relaxed);
        (withheld > room).then_some(room)
    }

    pub(crate) fn withheld_bytes(&self, peer: NodeId) -> u64 {
        self.by_node[peer.index()].withheld_bytes.load(Ordering::Relaxed)
    }

    /// How often a node has given credit back.
    pub(crate) fn refunds(&self, peer: NodeId) -> u64 {
        self.by_node[peer.index()].refunds.load(Ordering::Relaxed)
    }

    /// Lets twice as much be withheld from a node as `room_bytes`, until nothing is.
    pub(crate) fn enlarge(&self, peer: NodeId, room_bytes: u64) {
        self.by_node[peer.index()].room_bytes.fetch_max(room_bytes.saturating_mul(2), Ordering::Relaxed);
    }
}
