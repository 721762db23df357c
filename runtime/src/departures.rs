//! Messages on their way to other nodes, and those that wait: for room in the network, or for credit (see [`crate::credit`]).
//!
//! 1. What costs nothing is sent in order, and so is what has a toll. What costs nothing overtakes what waits for credit.
//! 2. What is paid for goes as soon as the network has room for it.
//! 3. Whoever gets credit back sends what waits for it, under the lock under which others make messages wait: none is left behind.
//!
//! What waits for credit may take a quarter of the host's memory; a message beyond that ends the job.

use crate::credit::{Account, Toll, WINDOW_BYTES};
use crate::envelope::{self, Header, Packed};
use crate::error::JobError;
use crate::host_memory::kept_bytes_max;
use crate::ids::NodeId;
use crate::node::Node;
use crate::stats::Counters;
use crate::zerocopy::Descriptor;
use chare_lrts::{Frame, Lrts, NoRoom};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What may wait for credit of one node before the PE that sends more has to wait itself: as much as is on its way, so that the
/// network never runs dry.
const ROOM_BYTES: u64 = WINDOW_BYTES;

/// What waits for one node, oldest first.
#[derive(Default)]
struct Waiting {
    /// For room. It is paid for or costs nothing.
    refused: VecDeque<Packed>,
    /// For credit, with their tolls.
    withheld: VecDeque<(Packed, u32)>,
}

/// The way to one other node.
struct Departure {
    account: Account,
    waiting: Mutex<Waiting>,
    /// Tolls of what is withheld. Written under the lock.
    withheld_bytes: AtomicU64,
    /// What may be withheld before senders wait. Grows while the other node is silent: see [`crate::holding`].
    room_bytes: AtomicU64,
    /// How often credit came back, for those who wait for it.
    refunds: AtomicU64,
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
    by_node: Vec<Departure>,
    /// Messages that wait, for those who poll.
    waiting_count: AtomicUsize,
    /// Tolls of all that is withheld.
    withheld_bytes: AtomicU64,
    withheld_bytes_max: u64,
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

impl Node {
    /// Sends a message that costs `toll`, or nothing; the caller counts its bytes. Returns the vector of a frame that is gone, to be used
    /// again, or an empty one. Order between two calls of one thread to one node is kept, if both cost something or neither does.
    pub(crate) fn post_packed(&self, peer: NodeId, packed: Packed, toll: Option<u32>) -> Vec<u8> {
        let departures = &self.departures;
        let departure = &departures.by_node[peer.index()];
        let pay = || toll.is_none_or(|toll| departure.account.pay(toll));
        let mut packed = packed;
        // Whatever this thread left waiting, it sees here; what others did need not go first.
        let mut is_paid = !departures.are_waiting() && pay();
        if is_paid {
            match self.send(peer, packed) {
                Ok(used) => return used,
                Err(refused) => packed = refused,
            }
        }
        let mut waiting = departure.waiting.lock();
        is_paid = is_paid || ((toll.is_none() || waiting.withheld.is_empty()) && pay());
        if let Some(toll) = toll
            && !is_paid
        {
            if self.has_ended() {
                return Vec::new();
            }
            waiting.withheld.push_back((packed, toll));
            departure.withheld_bytes.fetch_add(toll.into(), Ordering::Relaxed);
            let before = departures.withheld_bytes.fetch_add(toll.into(), Ordering::Relaxed);
            departures.waiting_count.fetch_add(1, Ordering::Relaxed);
            drop(waiting);
            if before > departures.withheld_bytes_max {
                self.fail_withholding(peer);
            }
            return Vec::new();
        }
        if waiting.refused.is_empty() {
            match self.send(peer, packed) {
                Ok(used) => return used,
                Err(refused) => packed = refused,
            }
        }
        waiting.refused.push_back(packed);
        let is_first = departures.waiting_count.fetch_add(1, Ordering::Relaxed) == 0;
        drop(waiting);
        if is_first {
            // Somebody has to try again, and this thread need not be a PE's.
            self.wake(0);
        }
        Vec::new()
    }

    #[cold]
    fn fail_withholding(&self, peer: NodeId) {
        let cause = format!(
            "messages that {peer} has no room for take all of the {} bytes that are kept for them here; let entries that send much end \
             between whiles or wait for answers, so that messages for them can run",
            self.departures.withheld_bytes_max
        );
        let (what, pe) = (format!("sending to {peer}"), self.layout.pe(self.id, 0));
        self.fail(JobError::Delivery { what, pe, node: self.id, cause });
    }

    /// Sends a message; returns the vector of its frame.
    ///
    /// # Errors
    /// The message, when it finds no room.
    fn send(&self, peer: NodeId, packed: Packed) -> Result<Vec<u8>, Packed> {
        let bytes = match packed {
            Packed::Frame(bytes) => bytes,
            Packed::Large(memory) => {
                let lent = self.transfers.lend_message(self.network.regions(), memory);
                let (key, token) = lent.map_err(Packed::Large)?;
                let header = Header::Large { descriptor: Descriptor::Lent { key, token } };
                envelope::encode(&header, None).expect("a descriptor encodes")
            }
        };
        match self.network.send(peer, Frame::runtime(&bytes)) {
            Ok(()) => Ok(bytes),
            Err(NoRoom) => Err(Packed::Frame(bytes)),
        }
    }

    /// Sends what found no room or no credit before. Returns whether anything went.
    pub(crate) fn flush(&self) -> bool {
        if !self.departures.are_waiting() {
            return false;
        }
        let peers = (0..self.layout.nodes()).map(NodeId);
        peers.fold(false, |sent, peer| self.flush_to(peer) | sent)
    }

    fn flush_to(&self, peer: NodeId) -> bool {
        let departures = &self.departures;
        let departure = &departures.by_node[peer.index()];
        let mut waiting = departure.waiting.lock();
        let mut sent = 0;
        loop {
            let packed = match waiting.refused.pop_front() {
                Some(packed) => packed,
                None => match waiting.withheld.front() {
                    Some((_, toll)) if departure.account.pay(*toll) => {
                        let (packed, toll) = waiting.withheld.pop_front().expect("looked at above");
                        departure.withheld_bytes.fetch_sub(toll.into(), Ordering::Relaxed);
                        departures.withheld_bytes.fetch_sub(toll.into(), Ordering::Relaxed);
                        packed
                    }
                    _ => break,
                },
            };
            if let Err(refused) = self.send(peer, packed) {
                waiting.refused.push_front(refused);
                break;
            }
            sent += 1;
        }
        if waiting.withheld.is_empty() {
            departure.room_bytes.store(ROOM_BYTES, Ordering::Relaxed);
        }
        departures.waiting_count.fetch_sub(sent, Ordering::Relaxed);
        sent > 0
    }

    /// Another node has given credit back: sends what waited for it.
    ///
    /// # Errors
    /// When it is more than was paid, in words.
    pub(crate) fn take_credit(&self, peer: NodeId, bytes: u64) -> Result<(), String> {
        let departure = &self.departures.by_node[peer.index()];
        departure.account.refund(bytes)?;
        departure.refunds.fetch_add(1, Ordering::Relaxed);
        self.flush_to(peer);
        Ok(())
    }

    /// Gives credit back to another node.
    pub(crate) fn give_credit(&self, counters: &Counters, peer: NodeId, bytes: u64) {
        self.departures.account(peer).let_go(bytes);
        let frame = envelope::encode(&Header::Credit { bytes }, None).expect("a number encodes");
        self.post(counters, peer, frame);
    }

    /// Charges another node for a message that came from it.
    ///
    /// # Errors
    /// When it had no credit for it, in words.
    pub(crate) fn charge(&self, source: NodeId, bytes: u32) -> Result<Toll, String> {
        self.departures.account(source).charge(source, bytes)
    }

    /// Drops what waits for credit, when the job is over: nobody gives any.
    pub(crate) fn withdraw(&self) {
        for departure in &self.departures.by_node {
            let withheld = std::mem::take(&mut departure.waiting.lock().withheld);
            self.departures.waiting_count.fetch_sub(withheld.len(), Ordering::Relaxed);
        }
    }
}
