//! Talks with peers: the operations posted at each, those served here for it, and what waits to leave. Each is there from its first operation on.

use super::needs_progress::NeedsProgress;
use super::outgoing::{Outgoing, Pushed, StreamOwner};
use super::poster::Poster;
use super::server::Server;
use super::stream::{Chunk, Destination, Half};
use super::wire::{Header, OPERATIONS_MAX};
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, NoRoom};
use crate::peer_state::PeerState;
use crate::region::Regions;
use crate::sync::sparse::Sparse;
use crate::sync::{AtomicU8, Ordering, fence};
use parking_lot::Mutex;
use std::sync::Arc;

crate::knob! {
    /// Frames sent to one peer by one progress: two megabytes of chunks at most, so that other peers and calls need not wait long.
    fn peer_budget() -> usize = 4, or [1, 64];
}

/// Frames that may wait for a peer: a question for each of our operations there, and an answer for each of its operations here. It may ask
/// for more only when it has heard those.
const SINGLES_MAX: usize = 2 * OPERATIONS_MAX;

/// Both halves of the operations with one peer, and the frames that wait to leave.
pub(super) struct Talk {
    pub(super) poster: Poster,
    pub(super) server: Server,
    pub(super) outgoing: Outgoing,
    /// A chunk of which a part has arrived.
    chunk: Option<Chunk>,
    /// The wrapped backend had no room for the next frame; its event descriptor tells when to try again.
    pub(super) is_stalled: bool,
}

impl Talk {
    pub(super) fn is_idle(&self) -> bool {
        self.poster.is_idle() && self.server.is_idle() && self.outgoing.is_empty()
    }

    /// Ends the talk. Returns the completions of the operations that it leaves unfinished.
    fn end(&mut self) -> Vec<Completion> {
        self.chunk = None;
        self.server.abandon();
        self.outgoing.clear();
        self.poster.abandon()
    }

    pub(super) fn read(&mut self, bytes: &[u8]) -> Result<Option<Completion>, String> {
        let Self { poster, server, outgoing, .. } = self;
        let (header, data) = Header::decode(bytes)?;
        if outgoing.singles() >= SINGLES_MAX {
            return Err(format!("it asks on and on, and {SINGLES_MAX} answers wait for it"));
        }
        match header {
            Header::Get { id, range } => server.get(id, range, outgoing).map(|()| None),
            Header::Put { id, range } => server.put(id, range, data, outgoing).map(|()| None),
            Header::PutChunk { id, at } => server.chunk(id, at, data, outgoing).map(|()| None),
            Header::Granted { id } => poster.granted(id, outgoing).map(|()| None),
            Header::GetChunk { id, at } => poster.chunk(id, at, data),
            Header::Done { id } => poster.done(id, outgoing).map(Some),
            Header::Failed { id, reason } => poster.failed(id, reason).map(Some),
        }
    }

    fn destination(&mut self, chunk: Chunk) -> Option<&mut Destination> {
        match chunk.half {
            Half::Poster => self.poster.destination(chunk.id),
            Half::Server => self.server.destination(chunk.id),
        }
    }

    /// Takes the first bytes of a frame of `len` bytes, if it is a chunk that can be read to where it belongs: the next one of an open
    /// operation, which does not reach past its end. Any other is left to be delivered whole, and found out then.
    pub(super) fn begin(&mut self, begun: &[u8], len: usize) -> bool {
        let Some((chunk, at, data)) = Chunk::begin(begun, len) else { return false };
        let Some(into) = self.destination(chunk) else { return false };
        if into.check(at, data.len() + chunk.missing).is_err() {
            return false;
        }
        into.read(data.len(), |place| {
            place.copy_from_slice(data);
            data.len()
        });
        self.chunk = Some(chunk);
        true
    }

    /// Lets `read` write the next bytes of the chunk that was begun. Returns the completion that they lead to. Before its last byte the
    /// peer says nothing else, so nothing ends its operation but the end of the peer.
    pub(super) fn rest(&mut self, read: &mut dyn FnMut(&mut [u8]) -> usize) -> Option<Completion> {
        let chunk = self.chunk.take().expect("a chunk was begun");
        let into = self.destination(chunk).expect("its operation is open");
        let missing = chunk.missing - into.read(chunk.missing, read);
        if missing > 0 {
            self.chunk = Some(Chunk { missing, ..chunk });
            return None;
        }
        match chunk.half {
            Half::Poster => self.poster.end_if_full(chunk.id),
            Half::Server => {
                self.server.end_if_full(chunk.id, &mut self.outgoing);
                None
            }
        }
    }

    /// Hands frames to the backend until it refuses one or the budget ends. Returns how many it took.
    pub(super) fn push_out(&mut self, node: NodeId, inner: &dyn Lrts) -> usize {
        self.is_stalled = false;
        for taken in 0..peer_budget() {
            match self.outgoing.push_out(|frame| inner.send(node, frame)) {
                Ok(Pushed::Nothing) => return taken,
                Ok(Pushed::End(StreamOwner::GetServed, id)) => self.server.sent(id),
                Ok(Pushed::Frame | Pushed::End(StreamOwner::PutPosted, _)) => {}
                Err(NoRoom) => {
                    crate::sometimes!("a frame of a get or put found no room");
                    self.is_stalled = true;
                    return taken;
                }
            }
        }
        peer_budget()
    }
}

/// A talk, and what is read without its lock.
pub(super) struct Peer {
    pub(super) needs_progress: NeedsProgress,
    pub(super) talk: Mutex<Talk>,
}

impl Peer {
    pub(super) fn new(node: NodeId, regions: &Arc<Regions>, chunk_bytes_max: usize) -> Self {
        Self {
            needs_progress: NeedsProgress::new(),
            talk: Mutex::new(Talk {
                poster: Poster::new(node),
                server: Server::new(Arc::clone(regions)),
                outgoing: Outgoing::new(chunk_bytes_max),
                chunk: None,
                is_stalled: false,
            }),
        }
    }

    pub(super) fn note(&self, talk: &Talk) {
        self.needs_progress.note(!talk.outgoing.is_empty(), talk.server.waiting_since(), talk.is_stalled);
    }
}

/// The talks with all peers; see the file's head.
pub(super) struct Talks {
    /// By node.
    peers: Sparse<Peer>,
    /// By node: how far the exchange with it has come, a [`PeerState`]; it only grows.
    states: Box<[AtomicU8]>,
    regions: Arc<Regions>,
    chunk_bytes_max: usize,
}

impl Talks {
    /// With so many nodes, in chunks of so many bytes at the most.
    pub(super) fn new(nodes: u32, regions: Arc<Regions>, chunk_bytes_max: usize) -> Self {
        let states = (0..nodes).map(|_| AtomicU8::new(PeerState::Open as u8)).collect();
        Self { peers: Sparse::new(nodes as usize), states, regions, chunk_bytes_max }
    }

    /// The talk with a node, unless the job has no such node.
    pub(super) fn with(&self, node: NodeId) -> Option<&Peer> {
        let make = || Peer::new(node, &self.regions, self.chunk_bytes_max);
        (node.index() < self.states.len()).then(|| self.peers.get_or_make(node.index(), make))
    }

    /// All talks that there are.
    pub(super) fn all(&self) -> impl Iterator<Item = (NodeId, &Peer)> {
        self.peers.made().map(|(node, peer)| (NodeId(node as u32), peer))
    }

    /// Whether a peer is there, for whoever has its talk and holds the lock.
    pub(super) fn is_open(&self, node: NodeId) -> bool {
        // With `end`: either this sees the new state, or that finds the talk.
        fence(Ordering::SeqCst);
        self.states[node.index()].load(Ordering::Relaxed) == PeerState::Open as u8
    }

    /// Whether a peer is lost: nothing that it sends is read again.
    pub(super) fn is_lost(&self, node: NodeId) -> bool {
        self.states[node.index()].load(Ordering::Acquire) == PeerState::Lost as u8
    }

    /// Ends the talk with a peer. Returns the completions of the operations that it leaves unfinished.
    pub(super) fn end(&self, node: NodeId, state: PeerState) -> Vec<Completion> {
        self.states[node.index()].fetch_max(state as u8, Ordering::AcqRel);
        fence(Ordering::SeqCst);
        let Some(peer) = self.peers.get(node.index()) else { return Vec::new() };
        let mut talk = peer.talk.lock();
        let unfinished = talk.end();
        peer.note(&talk);
        unfinished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::wire::Range;

    #[test]
    fn a_peer_that_asks_and_does_not_hear_is_ended() {
        let regions = Arc::new(Regions::new(NodeId(0)).expect("a board"));
        let peer = Peer::new(NodeId(1), &regions, 1000);
        let mut talk = peer.talk.lock();
        let range = Range { slot: 0, generation: 1, offset: 0, len: 1 };
        let mut asked = (1..).map(|id| talk.read(Header::Get { id, range }.encode().as_slice()));
        assert_eq!(asked.position(|answered| answered.is_err()), Some(SINGLES_MAX));
    }
}
