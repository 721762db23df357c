//! Posted operations: the gets and puts of this node, until their completions.
//!
//! 1. An operation asks the target for a lease; what the target refuses for good ends it.
//! 2. Granted, it moves run by run, in pieces that the provider takes, several at a time, operations in the order of their grants. One
//!    lease covers all its runs.
//! 3. After the last piece the lease is released, and only then the completion delivered: whatever the poster
//!    sends afterwards, the target reads it after the release.
//! 4. An operation keeps its memory until the network is done with every piece, also when its peer is lost.

#![expect(unsafe_code, reason = "hands the network addresses of memory that operations hold")]

use super::endpoint::{Access, Direction, Endpoint, Refusal, Registration, TRANSFERS, Transfer};
use super::wire::{Control, Window};
use crate::emulated::wire::{OperationId, Range, Reason};
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::Completion;
use crate::memory::{DeviceMemory, Place};
use crate::operation::{LocalMemory, Operation};
use crate::runs::Runs;
use std::collections::{BTreeMap, VecDeque};

/// The longest piece: while one is on the wire, messages of the same connection wait for some hundred microseconds.
const PIECE_BYTES_MAX: usize = 4 << 20;

/// A transfer of so many bytes at most goes in pieces that lie in one page each where they come from: behind the end of a page,
/// Linux's soft-iWARP sends other bytes (`siw_try_1seg` takes one part's length for the other's).
const ONE_PAGE_BYTES_MAX: usize = 32;

/// The smallest page.
const PAGE_BYTES: usize = 4096;

/// Access of the network to the memory of this node.
fn access(local: &LocalMemory) -> Access {
    match local {
        LocalMemory::Get(_) => Access::Filled,
        LocalMemory::Put(_) => Access::Sent,
    }
}

fn direction(local: &LocalMemory) -> Direction {
    match local {
        LocalMemory::Get(_) => Direction::Read,
        LocalMemory::Put(_) => Direction::Write,
    }
}

/// An operation whose completion is still to come.
struct OpenOperation {
    request: Operation,
    /// All within the memory at this end.
    runs: Runs,
    registration: Option<Registration>,
    window: Option<Window>,
    /// The run whose bytes are next, and how many of them were handed to the network.
    next: (usize, usize),
    /// Pieces that the network has.
    in_flight: usize,
    /// The peer is lost, or a piece failed: no more pieces.
    doomed: bool,
}

impl OpenOperation {
    /// The next piece, of `max` bytes at most, into or out of the peer's memory at `remote`; none if all were handed to the network.
    fn piece(&self, remote: Window, max: usize) -> Option<Transfer> {
        let Operation { key, local: memory, .. } = &self.request;
        let (run, done) = self.next;
        let run = self.runs.nth(run)?;
        let left = run.len - done;
        let local = memory.address().wrapping_add(run.here + done);
        let remote = Window { address: remote.address.wrapping_add(run.at + done as u64), ..remote };
        let source = match direction(memory) {
            Direction::Read => remote.address as usize,
            Direction::Write => local as usize,
        };
        let in_page = if left > ONE_PAGE_BYTES_MAX { left } else { PAGE_BYTES - source % PAGE_BYTES };
        let len = left.min(in_page).min(max);
        Some(Transfer { direction: direction(memory), local, len, remote, peer: key.node })
    }

    /// The network has so many more bytes.
    fn advance(&mut self, bytes: usize) {
        self.in_flight += 1;
        let (run, done) = (self.next.0, self.next.1 + bytes);
        let is_whole = self.runs.nth(run).is_some_and(|run| run.len == done);
        self.next = if is_whole { (run + 1, 0) } else { (run, done) };
    }

    fn is_over(&self) -> bool {
        let is_posted = || self.window.is_some() && self.runs.nth(self.next.0).is_none();
        self.in_flight == 0 && (self.doomed || is_posted())
    }

    fn complete(self, endpoint: &mut dyn Endpoint, result: Result<usize, TransferError>) -> Completion {
        if let Some(registration) = &self.registration {
            endpoint.deregister(registration);
        }
        self.request.end(result)
    }
}

/// Result of posting pieces.
pub(super) enum Progress {
    /// Nothing can be posted now.
    Idle,
    /// Some pieces were posted.
    Posted,
    /// The path to this node is broken, for this reason.
    Broken(NodeId, String),
}

/// All operations of this node.
pub(super) struct Poster {
    open: BTreeMap<OperationId, OpenOperation>,
    last_id: OperationId,
    /// Granted, with bytes to be posted.
    ready: VecDeque<OperationId>,
    /// Whose piece each one-sided operation is.
    pieces: Vec<OperationId>,
    free: Vec<usize>,
    piece_bytes_max: usize,
}

impl Poster {
    pub(super) fn new(transfer_bytes_max: usize) -> Self {
        Self {
            open: BTreeMap::new(),
            last_id: 0,
            ready: VecDeque::new(),
            pieces: vec![0; TRANSFERS],
            free: (0..TRANSFERS).collect(),
            piece_bytes_max: transfer_bytes_max.min(PIECE_BYTES_MAX),
        }
    }

    /// How many operations are open at a node.
    pub(super) fn count(&self, node: NodeId) -> usize {
        self.open.values().filter(|operation| operation.request.key.node == node).count()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    pub(super) fn has_ready(&self) -> bool {
        !self.ready.is_empty() && !self.free.is_empty()
    }

    /// Whether the network has pieces of doomed operations.
    pub(super) fn has_doomed(&self) -> bool {
        self.open.values().any(|operation| operation.doomed)
    }

    /// Opens an operation on runs that lie within its memory. Returns what the target must be told.
    ///
    /// # Errors
    /// The completion, when the network does not take the local memory.
    pub(super) fn post(
        &mut self,
        operation: Operation,
        runs: Runs,
        endpoint: &mut dyn Endpoint,
    ) -> Result<Control, Completion> {
        let Operation { key, offset, .. } = operation;
        let (len, local_bytes) = (runs.range_bytes(), runs.local_bytes());
        let mut operation = OpenOperation {
            request: operation,
            runs,
            registration: None,
            window: None,
            next: (0, 0),
            in_flight: 0,
            doomed: false,
        };
        let place = Place { len: local_bytes, ..operation.request.local.place() };
        // At the address of memory of a device there may be nothing that a library could read by itself.
        let must_register =
            endpoint.registers_local() || matches!(place.device, Some(DeviceMemory::DmaBuf { .. }));
        if must_register && local_bytes > 0 {
            match endpoint.register(&place, access(&operation.request.local)) {
                Ok(registration) => operation.registration = Some(registration),
                Err(cause) => {
                    crate::sometimes!("memory at this end could not be registered with the network");
                    let cause = format!("{cause}; raise `ulimit -l`");
                    let error = TransferError::Refused { node: key.node, cause };
                    return Err(operation.complete(endpoint, Err(error)));
                }
            }
        }
        let writing = direction(&operation.request.local) == Direction::Write;
        self.last_id += 1;
        self.open.insert(self.last_id, operation);
        let range = Range { slot: key.slot, generation: key.generation, offset, len };
        Ok(Control::Open { id: self.last_id, range, writing })
    }

    /// An operation at `node` that waits for its grant.
    fn ungranted(&mut self, id: OperationId, node: NodeId) -> Result<&mut OpenOperation, String> {
        let found = self.open.get_mut(&id);
        found
            .filter(|operation| operation.request.key.node == node && operation.window.is_none())
            .ok_or_else(|| format!("it answered operation {id}, which does not wait for it"))
    }

    /// The target leases the range.
    ///
    /// # Errors
    /// What is wrong with that, in words.
    pub(super) fn granted(&mut self, id: OperationId, node: NodeId, window: Window) -> Result<(), String> {
        self.ungranted(id, node)?.window = Some(window);
        self.ready.push_back(id);
        Ok(())
    }

    /// The target refuses for good.
    ///
    /// # Errors
    /// What is wrong with that, in words.
    pub(super) fn failed(
        &mut self,
        id: OperationId,
        node: NodeId,
        reason: Option<Reason>,
        endpoint: &mut dyn Endpoint,
    ) -> Result<Completion, String> {
        let OpenOperation { request: Operation { offset, .. }, runs, .. } = self.ungranted(id, node)?;
        let error = match reason {
            Some(reason) => reason.to_error(node, *offset, runs.range_bytes()),
            None => TransferError::Refused {
                node,
                cause: "it could not register the region with the network; raise `ulimit -l` there"
                    .to_owned(),
            },
        };
        let operation = self.open.remove(&id).expect("just looked at");
        Ok(operation.complete(endpoint, Err(error)))
    }

    /// Posts pieces until the network takes no more. `over` gets operations that have none.
    pub(super) fn push_out(&mut self, endpoint: &mut dyn Endpoint, over: &mut Vec<OperationId>) -> Progress {
        let mut progress = Progress::Idle;
        while let Some(id) = self.ready.front().copied() {
            let Some(operation) = self.open.get_mut(&id).filter(|operation| !operation.doomed) else {
                self.ready.pop_front();
                continue;
            };
            let node = operation.request.key.node;
            let Some(window) = operation.window else { return progress };
            let Some(transfer) = operation.piece(window, self.piece_bytes_max) else {
                self.ready.pop_front();
                over.extend(operation.is_over().then_some(id));
                continue;
            };
            let Some(slot) = self.free.last().copied() else { return progress };
            // SAFETY: the piece lies within a run, and the runs within the operation's memory (checked before it was opened). The
            // operation holds the memory, exclusively for a get, and is kept until all its pieces are over (rule 4) or the endpoint is
            // shut.
            match unsafe { endpoint.transfer(&transfer, operation.registration.as_ref(), slot) } {
                Ok(()) => {
                    self.free.pop();
                    self.pieces[slot] = id;
                    operation.advance(transfer.len);
                    progress = Progress::Posted;
                }
                Err(Refusal::Full) => {
                    crate::sometimes!("a one-sided operation found no room");
                    return progress;
                }
                Err(Refusal::Broken(cause)) => return Progress::Broken(node, cause),
            }
        }
        progress
    }

    /// A piece is over. Returns its operation's name and node; the operation has ended if [`Poster::finish`] says so.
    pub(super) fn moved(&mut self, slot: usize) -> Option<(OperationId, NodeId)> {
        self.free.push(slot);
        let id = self.pieces[slot];
        let operation = self.open.get_mut(&id)?;
        operation.in_flight -= 1;
        Some((id, operation.request.key.node))
    }

    /// Ends an operation that is over. Returns where it was posted and its completion.
    pub(super) fn finish(
        &mut self,
        id: OperationId,
        endpoint: &mut dyn Endpoint,
    ) -> Option<(NodeId, Completion)> {
        if !self.open.get(&id)?.is_over() {
            return None;
        }
        let operation = self.open.remove(&id)?;
        let node = operation.request.key.node;
        let result = match operation.doomed {
            false => Ok(operation.runs.bytes()),
            true => Err(TransferError::PeerLost(node)),
        };
        Some((node, operation.complete(endpoint, result)))
    }

    /// A node is gone: completes its operations, but for those of which the network has pieces.
    pub(super) fn abandon(
        &mut self,
        node: NodeId,
        endpoint: &mut dyn Endpoint,
        ended: &mut impl FnMut(Completion),
    ) {
        let of_node = self.open.iter_mut().filter(|(_, operation)| operation.request.key.node == node);
        let doomed: Vec<OperationId> = of_node
            .map(|(id, operation)| {
                operation.doomed = true;
                *id
            })
            .collect();
        for id in doomed {
            self.finish(id, endpoint).into_iter().for_each(|(_, completion)| ended(completion));
        }
    }

    /// The endpoint is shut: completes everything.
    pub(super) fn abandon_all(&mut self, endpoint: &mut dyn Endpoint, ended: &mut impl FnMut(Completion)) {
        assert!(endpoint.is_shut(), "the network may still have pieces");
        for (_, operation) in std::mem::take(&mut self.open) {
            let lost = TransferError::PeerLost(operation.request.key.node);
            ended(operation.complete(endpoint, Err(lost)));
        }
        self.ready.clear();
    }
}
