//! Posting of messages to other nodes: sends a message, queues it while it waits for room or credit, and passes it down the tree of
//! nodes. `api/proxy -> delivery/zerocopy -> model/envelope -> pe/places -> delivery/outbox -> **node/posting** -> lrts`

use super::Node;
use super::credit::Cost;
use super::departures::ROOM_BYTES;
use crate::base::counters::Counters;
use crate::model::envelope::frame::{self, Header, Packed};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::model::nocopy::Descriptor;
use chare_lrts::codec::{CodecError, Writer};
use chare_lrts::{Frame, Lrts, MemoryMut, NoRoom};
use std::sync::atomic::Ordering;

impl Node {
    /// Sends another node a message of the runtime's own, which costs nothing; counts its bytes in the sender's `counters`.
    pub(crate) fn post(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>) {
        self.post_for(counters, peer, bytes, None);
    }

    /// Like [`Node::post`], for a message that costs `cost`, or nothing.
    pub(crate) fn post_for(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>, cost: Option<u32>) {
        debug_assert_ne!(peer, self.id, "messages inside a node are delivered");
        let packed = if bytes.len() <= self.frame_bytes_max {
            Packed::Frame(bytes)
        } else if let Some(mut memory) = self.allocate_large(bytes.len()) {
            memory.as_mut_slice().copy_from_slice(&bytes);
            Packed::Large(memory.freeze())
        } else {
            Packed::Large(MemoryMut::from_vec(bytes).freeze())
        };
        counters.bytes.add_shared(packed.len() as u64);
        self.post_packed(peer, packed, cost);
    }

    /// Packs the bytes that `write` writes, for [`Node::post_packed`]; a frame goes into `bytes`, which is empty.
    ///
    /// # Errors
    /// When the arguments refuse to be encoded, in words.
    pub(crate) fn pack(
        &self,
        write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
        bytes: Vec<u8>,
    ) -> Result<Packed, String> {
        frame::pack(write, bytes, self.frame_bytes_max, |len| self.allocate_large(len))
    }

    /// Memory that stays warm and that receivers read in place, if the network has any: a large message written there saves the receiver
    /// a copy, and both sides the page faults.
    fn allocate_large(&self, len: usize) -> Option<MemoryMut> {
        self.network.capabilities().view.then(|| self.network.allocate(len))
    }

    /// Passes a frame on to the nodes below this one, to each for `cost`. Counts each message before its receiver can have processed it.
    pub(crate) fn post_to_children(
        &self,
        counters: &Counters,
        root: NodeId,
        bytes: &[u8],
        cost: Option<u32>,
    ) {
        for child in self.topology.children(self.id, root) {
            counters.sent.add_shared(1);
            self.post_for(counters, child, bytes.to_vec(), cost);
        }
    }

    /// Sends a message that costs `cost`, or nothing; the caller counts its bytes. Returns the vector of a frame that is gone, to be used
    /// again, or an empty vector. Two messages of one thread to one node stay in order if both cost something or neither does.
    pub(crate) fn post_packed(&self, peer: NodeId, packed: Packed, cost: Option<u32>) -> Vec<u8> {
        let departures = &self.departures;
        let departure = &departures.by_node[peer.index()];
        let pay = || cost.is_none_or(|cost| departure.account.pay(cost));
        let mut packed = packed;
        // This thread sees here every message that it left waiting itself; messages that other threads left need not go first.
        let mut is_paid = !departures.are_waiting() && pay();
        if is_paid {
            match self.send(peer, packed) {
                Ok(used) => return used,
                Err(refused) => packed = refused,
            }
        }
        let mut waiting = departure.waiting.lock();
        is_paid = is_paid || ((cost.is_none() || waiting.withheld.is_empty()) && pay());
        if let Some(cost) = cost
            && !is_paid
        {
            if self.has_ended() {
                return Vec::new();
            }
            waiting.withheld.push_back((packed, cost));
            departure.withheld_bytes.fetch_add(cost.into(), Ordering::Relaxed);
            let before = departures.withheld_bytes.fetch_add(cost.into(), Ordering::Relaxed);
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
            // A PE has to try again, and this thread need not be a PE's.
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
        let (what, pe) = (format!("sending to {peer}"), self.topology.pe(self.id, 0));
        self.fail(JobError::Delivery { what, pe, node: self.id, cause });
    }

    /// Sends a message; returns the vector of its frame.
    ///
    /// # Errors
    /// The message itself, when there is no room for it.
    fn send(&self, peer: NodeId, packed: Packed) -> Result<Vec<u8>, Packed> {
        let bytes = match packed {
            Packed::Frame(bytes) => bytes,
            Packed::Large(memory) => {
                let lent = self.transfers.lend_message(self.network.regions(), memory);
                let (key, token) = lent.map_err(Packed::Large)?;
                let header = Header::Large { descriptor: Descriptor::Lent { key, token } };
                frame::encode(&header, None).expect("a descriptor encodes")
            }
        };
        match self.network.send(peer, Frame::runtime(&bytes)) {
            Ok(()) => Ok(bytes),
            Err(NoRoom) => Err(Packed::Frame(bytes)),
        }
    }

    /// Sends messages that found no room or no credit before. Returns whether any went.
    pub(crate) fn flush(&self) -> bool {
        if !self.departures.are_waiting() {
            return false;
        }
        let peers = (0..self.topology.nodes()).map(NodeId);
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
                    Some((_, cost)) if departure.account.pay(*cost) => {
                        let (packed, cost) = waiting.withheld.pop_front().expect("looked at above");
                        departure.withheld_bytes.fetch_sub(cost.into(), Ordering::Relaxed);
                        departures.withheld_bytes.fetch_sub(cost.into(), Ordering::Relaxed);
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

    /// Takes credit that another node has given back, and sends the messages that waited for it.
    ///
    /// # Errors
    /// When more comes back than was paid, in words.
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
        let frame = frame::encode(&Header::Credit { bytes }, None).expect("a number encodes");
        self.post(counters, peer, frame);
    }

    /// Charges another node for a message that came from it.
    ///
    /// # Errors
    /// When the other node had no credit for the message, in words.
    pub(crate) fn charge(&self, source: NodeId, bytes: u32) -> Result<Cost, String> {
        self.departures.account(source).charge(source, bytes)
    }

    /// Drops the messages that wait for credit, when the job is over: no node gives credit any more.
    pub(crate) fn withdraw(&self) {
        for departure in &self.departures.by_node {
            let withheld = std::mem::take(&mut departure.waiting.lock().withheld);
            self.departures.waiting_count.fetch_sub(withheld.len(), Ordering::Relaxed);
        }
    }
}
