//! Departures to other nodes: for each node a credit account, and a queue of messages that wait for room in the network or for credit
//! (see [`crate::node::credit`]).
//!
//! 1. Messages without a cost are sent in order, and so are messages with a cost. A message without a cost overtakes messages that wait
//!    for credit.
//! 2. A message that is paid for goes as soon as the network has room for it.
//! 3. The thread that takes credit back sends the messages that wait for it, under the lock under which other threads queue messages: no
//!    message is left behind.
//!
//! Messages that wait for credit may take a quarter of this node's share of the memory; a message beyond that ends the job.

use super::credit::{Account, WINDOW_BYTES};
use crate::base::host_memory::kept_bytes_max;
use crate::model::envelope::frame::Packed;
use crate::model::ids::NodeId;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Bytes (costs) that may wait for credit of one node before the PE that sends more has to wait itself: as many as are on their way, so
/// that the network never runs dry.
pub(super) const ROOM_BYTES: u64 = WINDOW_BYTES;

/// Messages that wait for one node, oldest first.
#[derive(Default)]
pub(super) struct SendQueue {
    /// Messages that wait for room: paid for, or without a cost.
    pub(super) refused: VecDeque<Packed>,
    /// Messages that wait for credit, with their costs.
    pub(super) withheld: VecDeque<(Packed, u32)>,
}

/// The departure to one other node.
pub(super) struct Departure {
    pub(super) account: Account,
    pub(super) waiting: Mutex<SendQueue>,
    /// Sum of the costs of the withheld messages. Written under the lock; senders read it without.
    pub(super) withheld_bytes: AtomicU64,
    /// Sum of costs that may be withheld before senders wait. Grows while the other node is silent: see [`crate::node::backpressure`].
    pub(super) room_bytes: AtomicU64,
    /// Number of times that credit came back, for the PEs that wait for it.
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

/// The departures to all nodes.
pub(crate) struct Departures {
    pub(super) by_node: Vec<Departure>,
    /// Number of messages that wait, for the threads that poll.
    pub(super) waiting_count: AtomicUsize,
    /// Sum of the costs of all withheld messages, for all nodes.
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

    /// The room for messages withheld from a node, in bytes, if more than that is withheld: then their sender should wait.
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

    /// Number of times that a node has given credit back.
    pub(crate) fn refunds(&self, peer: NodeId) -> u64 {
        self.by_node[peer.index()].refunds.load(Ordering::Relaxed)
    }

    /// Raises the room for messages withheld from a node to twice `room_bytes`, until none is withheld.
    pub(crate) fn enlarge(&self, peer: NodeId, room_bytes: u64) {
        self.by_node[peer.index()].room_bytes.fetch_max(room_bytes.saturating_mul(2), Ordering::Relaxed);
    }
}
