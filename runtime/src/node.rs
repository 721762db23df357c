//! One process of a job: what its PEs share. No chare lives here.

use crate::codec::{CodecError, Writer};
use crate::credit::Toll;
use crate::departures::Departures;
use crate::envelope::{self, Envelope, Header, Packed, Spread};
use crate::error::JobError;
use crate::fetching::Fetching;
use crate::host_memory::Allowance;
use crate::ids::{NodeId, PeId};
use crate::layout::Layout;
use crate::mailbox::{Mailbox, Wake, Work};
use crate::readonly::ReadonlyValues;
use crate::stats::Counters;
use crate::watch::Watch;
use crate::zerocopy::Transfers;
use crate::zerocopy::closing::Closing;
use crate::zerocopy::tags::Tags;
use chare_lrts::reach::Reach;
use chare_lrts::{Lrts, MemoryMut};
use crossbeam::utils::CachePadded;
use parking_lot::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// How a job ended, on this node.
#[derive(Debug)]
pub(crate) enum Ending {
    Code(i32),
    Error(JobError),
}

/// Says why this node failed.
type Herald = Box<dyn FnOnce(&JobError) + Send>;

/// Looks at the network on behalf of whoever waits for it; returns whether anything happened. What arrives is taken further up than here.
pub(crate) type Look = fn(&Arc<Node>) -> bool;

/// See the file's head.
pub(crate) struct Node {
    pub(crate) id: NodeId,
    pub(crate) layout: Layout,
    first_pe: PeId,
    pub(crate) network: Reach,
    pub(crate) transfers: Transfers,
    pub(crate) closing: Closing,
    pub(crate) tags: Tags,
    pub(crate) readonly: ReadonlyValues,
    /// For calls that wait for posted buffers.
    pub(crate) awaiting_posts: Allowance,
    pub(crate) fetching: Fetching,
    /// One per PE of this node.
    pub(crate) counters: Vec<Arc<CachePadded<Counters>>>,
    /// For what happens outside entries, from any thread.
    pub(crate) outside: Counters,
    pub(crate) started: Instant,
    mailboxes: Vec<Arc<CachePadded<Mailbox>>>,
    pub(crate) departures: Departures,
    look: Look,
    pub(crate) frame_bytes_max: usize,
    /// Whether the readonly values are here, so that entries may run.
    open: AtomicBool,
    watch: Watch,
    /// Until it is needed.
    herald: Mutex<Option<Herald>>,
    ended: AtomicBool,
    ending: Mutex<Option<Ending>>,
    has_ended: Condvar,
}

impl Node {
    pub(crate) fn new(id: NodeId, layout: Layout, network: Reach, look: Look) -> Self {
        let pes = layout.pes_per_node() as usize;
        let frame_bytes_max = network.capabilities().frame_bytes_max;
        Self {
            id,
            layout,
            first_pe: layout.pe(id, 0),
            network,
            transfers: Transfers::default(),
            closing: Closing::default(),
            tags: Tags::default(),
            readonly: ReadonlyValues::default(),
            awaiting_posts: Allowance::default(),
            fetching: Fetching::default(),
            counters: (0..pes).map(|_| Arc::default()).collect(),
            outside: Counters::default(),
            started: Instant::now(),
            mailboxes: (0..pes).map(|_| Arc::new(CachePadded::new(Mailbox::new()))).collect(),
            departures: Departures::new(layout.nodes()),
            look,
            frame_bytes_max,
            open: AtomicBool::new(false),
            watch: Watch::new(),
            herald: Mutex::new(None),
            ended: AtomicBool::new(false),
            ending: Mutex::new(None),
            has_ended: Condvar::new(),
        }
    }

    /// As [`Look`].
    pub(crate) fn look_at_network(self: &Arc<Self>) -> bool {
        (self.look)(self)
    }

    #[inline]
    pub(crate) fn is_here(&self, pe: PeId) -> bool {
        self.rank_here(pe).is_some()
    }

    /// A PE's position within this node, if it belongs to it. Asked for every message, so it divides nothing.
    #[inline]
    pub(crate) fn rank_here(&self, pe: PeId) -> Option<usize> {
        let rank = pe.0.wrapping_sub(self.first_pe.0) as usize;
        (rank < self.mailboxes.len()).then_some(rank)
    }

    pub(crate) fn pes(&self) -> impl Iterator<Item = PeId> {
        self.layout.pes_of(self.id)
    }

    /// Drops what was left for PEs that have ended: it may hold on to this node.
    pub(crate) fn clear_mailboxes(&self) {
        for mailbox in &self.mailboxes {
            while let Some(work) = mailbox.pop() {
                drop(work);
            }
        }
    }

    fn mailbox(&self, pe: PeId) -> &Arc<CachePadded<Mailbox>> {
        &self.mailboxes[self.rank_here(pe).expect("the PE is of this node")]
    }

    /// A PE's mailbox, for the PE.
    pub(crate) fn mailbox_of(&self, pe: PeId) -> Arc<CachePadded<Mailbox>> {
        Arc::clone(self.mailbox(pe))
    }

    /// Leaves work for a PE of this node, from any thread; a PE does it by [`crate::outbox`], which is quicker.
    pub(crate) fn deliver(&self, pe: PeId, work: Work) {
        if self.mailbox(pe).push(work) == Wake::Network {
            self.network.wake();
        }
    }

    /// Wakes the PE at this position if it sleeps: work was left for it elsewhere than in its mailbox.
    #[inline]
    pub(crate) fn wake(&self, rank: usize) {
        if self.mailboxes[rank].wake() == Wake::Network {
            self.network.wake();
        }
    }

    /// Sends from outside any PE's entry; counted here.
    pub(crate) fn deliver_counted(&self, pe: PeId, envelope: Envelope) {
        self.outside.sent.add_shared(1);
        self.deliver(pe, Work::Message(envelope, Toll::NONE));
    }

    /// Sends another node a message of the runtime's own, which costs nothing; its bytes go to the sender's `counters`.
    pub(crate) fn post(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>) {
        self.post_for(counters, peer, bytes, None);
    }

    /// The same for a message that costs `toll`, or nothing.
    pub(crate) fn post_for(&self, counters: &Counters, peer: NodeId, bytes: Vec<u8>, toll: Option<u32>) {
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
        self.post_packed(peer, packed, toll);
    }

    /// Packs what `write` writes for [`Node::post_packed`]; a frame into `bytes`, which is empty.
    ///
    /// # Errors
    /// When the arguments refuse to be encoded, in words.
    pub(crate) fn pack(
        &self,
        write: impl FnMut(&mut Writer<'_>) -> Result<(), CodecError>,
        bytes: Vec<u8>,
    ) -> Result<Packed, String> {
        envelope::pack(write, bytes, self.frame_bytes_max, |len| self.allocate_large(len))
    }

    /// Memory that stays warm and that receivers read in place, if there is such: writing a large message there saves the receiver a
    /// copy, and both the page faults.
    fn allocate_large(&self, len: usize) -> Option<MemoryMut> {
        self.network.capabilities().view.then(|| self.network.allocate(len))
    }

    /// Whether something waits that no arrival announces (room in the network, a peer's claim), so that sleeping must be
    /// short.
    pub(crate) fn is_congested(&self) -> bool {
        self.departures.are_waiting() || self.transfers.has_refused() || self.closing.is_waiting()
    }

    /// Lets entries run on this node.
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Release);
        self.wake_all();
    }

    pub(crate) fn is_open(&self) -> bool {
        self.open.load(Ordering::Acquire)
    }

    /// Ends the job, on all nodes, with an exit code.
    pub(crate) fn exit(&self, code: i32) {
        self.spread_exit(code, None);
        self.end(Ending::Code(code));
    }

    /// Who says why this node fails, if it does: once, and before another node hears of it. Nodes that heard end, and a launcher that
    /// sees one end may stop this one before it could speak.
    pub(crate) fn set_herald(&self, herald: impl FnOnce(&JobError) + Send + 'static) {
        *self.herald.lock() = Some(Box::new(herald));
    }

    /// Ends the job, on all nodes, with an error. The first one counts.
    pub(crate) fn fail(&self, error: JobError) {
        if self.has_ended() {
            return;
        }
        let herald = self.herald.lock().take();
        if let Some(herald) = herald {
            herald(&error);
        }
        self.spread_exit(1, Some(error.to_string()));
        self.end(Ending::Error(error));
    }

    fn spread_exit(&self, code: i32, error: Option<String>) {
        let header = Header::Spread { root: self.id, spread: Spread::Exit { code, error } };
        if let Ok(bytes) = envelope::encode(&header, None) {
            self.post_to_children(&self.outside, self.id, &bytes, None);
        }
    }

    /// Passes a frame on to the nodes below this one, each for `toll`. Counted before anybody can have processed it.
    pub(crate) fn post_to_children(
        &self,
        counters: &Counters,
        root: NodeId,
        bytes: &[u8],
        toll: Option<u32>,
    ) {
        for child in self.layout.children(self.id, root) {
            counters.sent.add_shared(1);
            self.post_for(counters, child, bytes.to_vec(), toll);
        }
    }

    /// Ends the job on this node.
    pub(crate) fn end(&self, ending: Ending) {
        self.ending.lock().get_or_insert(ending);
        self.ended.store(true, Ordering::Release);
        self.has_ended.notify_all();
        self.wake_all();
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Acquire)
    }

    /// Blocks until the job has ended on this node.
    pub(crate) fn wait_for_end(&self) {
        let mut ending = self.ending.lock();
        while ending.is_none() {
            self.has_ended.wait(&mut ending);
        }
    }

    pub(crate) fn take_ending(&self) -> Option<Ending> {
        self.ending.lock().take()
    }

    fn wake_all(&self) {
        for mailbox in &self.mailboxes {
            if mailbox.wake() == Wake::Network {
                self.network.wake();
            }
        }
    }

    /// Who looks after the network.
    pub(crate) fn watch(&self) -> &Watch {
        &self.watch
    }

    /// Wakes one parked PE, to watch the network while the caller is busy, unless somebody does.
    pub(crate) fn hand_over_network(&self) {
        if self.layout.nodes() > 1 && !self.watch.has_watcher() {
            self.mailboxes.iter().any(|mailbox| mailbox.wake_parked());
        }
    }
}
