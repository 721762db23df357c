//! Posting of messages to other nodes: sends a message, queues it while it waits for room or credit, and passes it down the tree of
//! nodes. `api/proxy -> transfer -> model/envelope -> pe/places -> delivery/outbox -> delivery/outbound -> **node/posting** -> lrts`

use super::Node;
use super::credit::{Cost, Fare, MESSAGE_BYTES, Price};
use super::departures::Posted;
use super::ledger::Note;
use crate::base::counters::Counters;
use crate::model::envelope::frame::{self, Header, Packed};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::model::nocopy::Descriptor;
use chare_lrts::codec::{CodecError, Writer};
use chare_lrts::{Frame, Lrts, MemoryMut, NoRoom};

impl Node {
    /// Sends another node a message of the runtime's own, which costs nothing; counts its bytes in the sender's `counters`.
    pub(crate) fn post(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>) {
        self.post_for(counters, peer, bytes, None);
    }

    /// Like [`Node::post`], for a message that costs `cost`, or nothing.
    pub(crate) fn post_for(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>, cost: Option<u32>) {
        let packed = if bytes.len() <= self.frame_bytes_max {
            Packed::Frame(bytes)
        } else if let Some(mut memory) = self.network.allocate_warm(bytes.len()) {
            memory.as_mut_slice().copy_from_slice(&bytes);
            Packed::Large(memory.freeze())
        } else {
            Packed::Large(MemoryMut::from_vec(bytes).freeze())
        };
        self.post_counted(counters, peer, packed, cost);
    }

    /// Sends another node a packed message that costs `cost`, or nothing; counts its bytes in the sender's `counters`.
    pub(crate) fn post_counted(&self, counters: &Counters, peer: NodeId, packed: Packed, cost: Option<u32>) {
        debug_assert_ne!(peer, self.id, "messages inside a node are delivered");
        counters.bytes.add_shared(packed.len() as u64);
        self.post_packed(peer, packed, cost.map(Price::plain));
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
        frame::pack(write, bytes, self.frame_bytes_max, |len| self.network.allocate_warm(len))
    }

    /// Passes a frame on to the nodes below this one, to each for `cost`; what is long lies in one memory for all of them. Counts each
    /// message before its receiver can have processed it.
    pub(crate) fn post_to_children(
        &self,
        counters: &Counters,
        root: NodeId,
        bytes: &[u8],
        cost: Option<u32>,
    ) {
        if self.topology.children(self.id, root).next().is_none() {
            return;
        }
        let packed = if bytes.len() <= self.frame_bytes_max {
            Packed::Frame(bytes.to_vec())
        } else if let Some(mut memory) = self.network.allocate_warm(bytes.len()) {
            memory.as_mut_slice().copy_from_slice(bytes);
            Packed::Large(memory.freeze())
        } else {
            Packed::Large(MemoryMut::heap_copy_of(bytes).freeze())
        };
        self.post_packed_to_children(counters, root, &packed, cost);
    }

    /// As [`post_to_children`](Self::post_to_children), for what is packed.
    pub(crate) fn post_packed_to_children(
        &self,
        counters: &Counters,
        root: NodeId,
        packed: &Packed,
        cost: Option<u32>,
    ) {
        for child in self.topology.children(self.id, root) {
            counters.sent.add_shared(1);
            self.post_counted(counters, child, packed.clone(), cost);
        }
    }

    /// Sends a message for this price, or for nothing; the caller counts its bytes. Returns the vector of a frame that is gone, to be used
    /// again, or an empty vector. Two messages of one thread to one node stay in order if both cost something or neither does, unless one
    /// is urgent, which goes before others that wait.
    pub(crate) fn post_packed(&self, peer: NodeId, packed: Packed, price: Option<Price>) -> Vec<u8> {
        let send = |packed| self.send(peer, packed);
        let fare = price.map(|price| Fare { price, bytes: MESSAGE_BYTES + packed.len() as u64 });
        let paid = price.map(|price| price.bytes);
        self.ledger.note(self.id, Note::Posted { target: peer, packed: &packed, price: paid });
        match self.departures.post(peer, packed, fare, send, || self.has_ended()) {
            Posted::Sent(used) => return used,
            // A PE has to try again, and this thread need not be a PE's.
            Posted::Refused { is_first: true } => {
                chare_lrts::sometimes!("a message found no room");
                self.wake(0);
            }
            Posted::Unaffordable(used_up) => self.fail_withholding(peer, &used_up),
            Posted::Refused { .. } => {
                chare_lrts::sometimes!("a message found no room behind others");
            }
            Posted::Withheld => {
                chare_lrts::sometimes!("a message waited for credit");
            }
            Posted::Dropped => {}
        }
        Vec::new()
    }

    #[cold]
    fn fail_withholding(&self, peer: NodeId, used_up: &str) {
        let cause = format!(
            "{peer} has no room for more, and {used_up}; let entries that send much end between whiles or wait for answers, so that messages \
             for them can run"
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
                let descriptor = Descriptor::Lent { key, layout: None, token, is_awaited: false };
                let header = Header::Large { descriptor };
                let packed = Packed::Frame(frame::encode(&header, None).expect("a descriptor encodes"));
                self.ledger.note(self.id, Note::Posted { target: peer, packed: &packed, price: None });
                return self.send(peer, packed);
            }
        };
        match self.network.send(peer, Frame::runtime(&bytes)) {
            Ok(()) => Ok(bytes),
            Err(NoRoom) => Err(Packed::Frame(bytes)),
        }
    }

    /// Sends messages that found no room or no credit before. Returns whether any went.
    pub(crate) fn flush(&self) -> bool {
        self.departures.are_waiting() && self.departures.flush(|peer, packed| self.send(peer, packed))
    }

    /// Takes credit that another node has given back, and sends the messages that waited for it.
    ///
    /// # Errors
    /// When more comes back than was paid, in words.
    pub(crate) fn take_credit(&self, peer: NodeId, bytes: u64) -> Result<(), String> {
        self.ledger.note(self.id, Note::CreditTaken { source: peer, bytes });
        self.departures.refund(peer, bytes, |packed| self.send(peer, packed))
    }

    /// Gives credit back to another node.
    pub(crate) fn give_credit(&self, counters: &Counters, peer: NodeId, bytes: u64) {
        self.ledger.note(self.id, Note::CreditGiven { target: peer, bytes });
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
        self.departures.withdraw();
    }
}
