//! Direct access of a simulated network: gets and puts that move their bytes at one moment, when they have reached the node whose memory it is,
//! under a claim on it; and neighbours that lend each other memory in place. No protocol of a real network is played.
//!
//! 1. A request is carried out as it arrives, by no PE. One that another's claim is in the way of waits there, for a PE that looks at the
//!    network after the claim's end.
//! 2. A node parts from the others when it has no request open, and has given up those that wait at it.

#![expect(unsafe_code, reason = "copies to and from claimed regions")]

use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Completion, NoRoom};
use crate::operation::{LocalMemory, Operation};
use crate::region::claim::ClaimMode;
use crate::region::waiters::Waiters;
use crate::region::{Claim, ClaimError, RegionKey, Regions};
use crate::runs::{Run, Runs};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Number of a request among those of its poster.
type RequestId = u64;

/// The answer to a request: what a get has read.
pub(super) type Answer = Result<Vec<u8>, TransferError>;

/// A get or put on its way to the node whose memory it is.
pub(super) struct Request {
    pub(super) poster: NodeId,
    pub(super) id: RequestId,
    pub(super) key: RegionKey,
    offset: u64,
    runs: Runs,
    /// What a put writes.
    carried: Option<Vec<u8>>,
}

impl Request {
    /// Bytes that go to the peer.
    pub(super) fn carried_bytes(&self) -> usize {
        self.carried.as_ref().map_or(0, Vec::len)
    }

    fn mode(&self) -> ClaimMode {
        if self.carried.is_some() { ClaimMode::Write } else { ClaimMode::Read }
    }

    fn claim(&self, regions: &Arc<Regions>) -> Result<Claim, ClaimError> {
        regions.claim(&self.key, self.offset, self.runs.range_bytes(), self.mode())
    }

    /// Carries it out, unless another's claim is in the way: `None`.
    pub(super) fn serve(&self, regions: &Arc<Regions>) -> Option<Answer> {
        match self.claim(regions) {
            Ok(claim) => Some(Ok(self.carry_out(&claim))),
            Err(ClaimError::Failed(error)) => Some(Err(error)),
            Err(ClaimError::Busy) => None,
        }
    }

    fn carry_out(&self, claim: &Claim) -> Vec<u8> {
        let is_get = self.carried.is_none();
        let mut read = Vec::with_capacity(if is_get { self.runs.bytes() } else { 0 });
        let mut carried = self.carried.as_deref().unwrap_or_default();
        for Run { at, len, .. } in each(&self.runs) {
            let place = claim.address().wrapping_add(at as usize);
            if !is_get {
                let (these, rest) = carried.split_at(len);
                // SAFETY: the run lies within the claimed range, whose bytes stay allocated and are touched by nobody else while the write
                // claim lives.
                unsafe { std::ptr::copy_nonoverlapping(these.as_ptr(), place, len) };
                carried = rest;
            } else {
                // SAFETY: the run lies within the claimed range, whose bytes stay allocated and unwritten while the read claim lives.
                read.extend_from_slice(unsafe { std::slice::from_raw_parts(place, len) });
            }
        }
        read
    }
}

impl Hash for Request {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        let RegionKey { slot, generation, .. } = self.key;
        (self.id, (slot, generation, self.offset), &self.carried).hash(hasher);
        each(&self.runs).for_each(|run| (run.at, run.here, run.len).hash(hasher));
    }
}

fn each(runs: &Runs) -> impl Iterator<Item = Run> + '_ {
    (0..).map_while(|index| runs.nth(index))
}

/// Requests of one node, and those of others that wait at it.
pub(super) struct Requests {
    regions: Arc<Regions>,
    open: BTreeMap<RequestId, (Operation, Runs)>,
    last: RequestId,
    waiting: Waiters<(NodeId, RequestId)>,
    of_others: BTreeMap<(NodeId, RequestId), Request>,
}

impl Requests {
    pub(super) fn new(regions: Arc<Regions>) -> Self {
        let waiting = Waiters::new(Arc::clone(&regions));
        Self { regions, open: BTreeMap::new(), last: 0, waiting, of_others: BTreeMap::new() }
    }

    /// Posts runs that lie within the operation's memory, of which `ask` tells the peer.
    ///
    /// # Errors
    /// The operation, when there is no room for it now.
    pub(super) fn post(
        &mut self,
        operation: Operation,
        runs: Runs,
        ask: impl FnOnce(Request) -> Result<(), NoRoom>,
    ) -> Result<(), Operation> {
        let carried = match &operation.local {
            LocalMemory::Get(_) => None,
            LocalMemory::Put(from) => {
                let bytes = from.as_slice();
                let mut carried = Vec::with_capacity(runs.bytes());
                each(&runs)
                    .for_each(|Run { here, len, .. }| carried.extend_from_slice(&bytes[here..here + len]));
                Some(carried)
            }
        };
        let (poster, id) = (self.regions.node(), self.last + 1);
        let (key, offset) = (operation.key, operation.offset);
        let request = Request { poster, id, key, offset, runs: runs.clone(), carried };
        if let Err(NoRoom) = ask(request) {
            return Err(operation);
        }
        self.last = id;
        self.open.insert(id, (operation, runs));
        Ok(())
    }

    /// The answer to one of this node's is here: how the operation has ended, unless that was told before.
    pub(super) fn conclude(&mut self, id: RequestId, answer: Answer) -> Option<Completion> {
        let (mut operation, runs) = self.open.remove(&id)?;
        if let (LocalMemory::Get(into), Ok(read)) = (&mut operation.local, &answer) {
            let (into, mut read) = (into.as_mut_slice(), read.as_slice());
            for Run { here, len, .. } in each(&runs) {
                let (these, rest) = read.split_at(len);
                into[here..here + len].copy_from_slice(these);
                read = rest;
            }
        }
        Some(operation.end(answer.map(|_| runs.bytes())))
    }

    /// Carries out one of another node's, or lets it wait: `None`.
    pub(super) fn serve(&mut self, request: Request) -> Option<(Request, Answer)> {
        let Self { waiting, regions, .. } = self;
        let (name, asked) = ((request.poster, request.id), (&request.key, request.mode()));
        let answer = match waiting.claim(name, asked, || request.claim(regions)) {
            Ok(Some(claim)) => Ok(request.carry_out(&claim)),
            Ok(None) => {
                crate::sometimes!("a request waited for others to leave its memory");
                self.of_others.insert(name, request);
                return None;
            }
            Err(error) => Err(error),
        };
        Some((request, answer))
    }

    /// Takes out those of others that are to be tried again; when `closing`, all.
    pub(super) fn take_due(&mut self, closing: bool) -> Vec<Request> {
        if !closing && !self.waiting.is_due() {
            return Vec::new();
        }
        let names = self.waiting.take();
        names.into_iter().filter_map(|name| self.of_others.remove(&name)).collect()
    }

    /// Whether any is to be tried again.
    pub(super) fn is_due(&self) -> bool {
        self.waiting.is_due()
    }

    /// Whether none of this node's is open.
    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// A peer is lost: its requests are forgotten, and how those at it have ended.
    pub(super) fn abandon(&mut self, peer: NodeId) -> Vec<Completion> {
        self.of_others.retain(|(poster, _), _| *poster != peer);
        let lost = self.open.extract_if(.., |_, (operation, _)| operation.key.node == peer);
        lost.map(|(_, (operation, _))| operation.end(Err(TransferError::PeerLost(peer)))).collect()
    }
}
