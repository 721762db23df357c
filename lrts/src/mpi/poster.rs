//! Posted operations: the gets and puts of this node, until their completions.
//!
//! 1. A get says under which tag it wants its bytes, and receives them once the server has claimed the range.
//! 2. A put waits for the server's tag, sends, and is over when the server has all bytes in its memory.
//! 3. A refusal for good ends the operation. Whatever else it says out of this order is a breach, told in words.
//! 4. An operation keeps its memory while MPI may touch it; of a lost peer's operations, what MPI does not give back never
//!    comes back.

use super::flow::{Block, Flow, Process};
use super::wire::{Control, Tags};
use crate::emulated::wire::{OperationId, Range, Reason};
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Completion, Token};
use crate::operation::{LocalMemory, Operation};
use std::collections::BTreeMap;

enum OperationState {
    /// The server was asked; a get has its tag.
    Asked { local: LocalMemory, tag: Option<u32> },
    /// A get whose flow has the memory.
    Receiving { tag: u32 },
    /// A put whose flow has the memory; the server may have all bytes before MPI says that the last ones have left.
    Sending { is_done: bool },
    /// A put whose bytes have left.
    Sent,
}

/// An operation whose completion is still to come.
struct OpenOperation {
    node: NodeId,
    offset: u64,
    len: usize,
    token: Token,
    state: OperationState,
}

/// All operations of this node.
pub(super) struct Poster {
    open: BTreeMap<OperationId, OpenOperation>,
    last_id: OperationId,
}

impl Poster {
    pub(super) fn new() -> Self {
        Self { open: BTreeMap::new(), last_id: 0 }
    }

    /// How many operations are open at a node.
    pub(super) fn count(&self, node: NodeId) -> usize {
        self.open.values().filter(|operation| operation.node == node).count()
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// Opens an operation. Returns what to tell the server.
    ///
    /// # Errors
    /// The operation when no tag is free.
    pub(super) fn post(&mut self, operation: Operation, tags: &mut Tags) -> Result<Control, Operation> {
        let Operation { key, offset, len, token, local } = operation;
        let range = Range { slot: key.slot, generation: key.generation, offset, len: len as u64 };
        let id = self.last_id + 1;
        let (control, tag) = match &local {
            LocalMemory::Get(_) => match tags.take() {
                Some(tag) => (Control::Get { id, range, tag }, Some(tag)),
                None => return Err(Operation { key, offset, len, token, local }),
            },
            LocalMemory::Put(_) => (Control::Put { id, range }, None),
        };
        self.last_id = id;
        let state = OperationState::Asked { local, tag };
        self.open.insert(id, OpenOperation { node: key.node, offset, len, token, state });
        Ok(control)
    }

    /// The server claimed the range of a get and sends it.
    ///
    /// # Errors
    /// When this node asked for no such thing.
    pub(super) fn sending(&mut self, id: OperationId, node: NodeId, from: Process) -> Result<Flow, String> {
        let operation = self.open.get_mut(&id).filter(|operation| operation.node == node);
        let operation = operation.ok_or_else(|| format!("it sends for operation {id}, which is not open"))?;
        match std::mem::replace(&mut operation.state, OperationState::Sent) {
            OperationState::Asked { local: LocalMemory::Get(memory), tag: Some(tag) } => {
                operation.state = OperationState::Receiving { tag };
                Ok(Flow::receive(Block::Into { memory, len: operation.len }, from, tag))
            }
            other => {
                operation.state = other;
                Err(format!("it sends for operation {id}, which waits for nothing"))
            }
        }
    }

    /// The server claimed the range of a put and waits for it.
    ///
    /// # Errors
    /// When this node asked for no such thing.
    pub(super) fn receiving(
        &mut self,
        id: OperationId,
        node: NodeId,
        to: Process,
        tag: u32,
    ) -> Result<Flow, String> {
        let operation = self.open.get_mut(&id).filter(|operation| operation.node == node);
        let operation = operation.ok_or_else(|| format!("it waits for operation {id}, which is not open"))?;
        match std::mem::replace(&mut operation.state, OperationState::Sent) {
            OperationState::Asked { local: LocalMemory::Put(memory), .. } => {
                operation.state = OperationState::Sending { is_done: false };
                Ok(Flow::send(Block::From(memory), to, tag))
            }
            other => {
                operation.state = other;
                Err(format!("it waits for operation {id}, which has nothing to send"))
            }
        }
    }

    /// A flow is over: ends a get; a put waits for the server's word.
    pub(super) fn moved(&mut self, id: OperationId, flow: Flow, tags: &mut Tags) -> Option<Completion> {
        let operation = self.open.get_mut(&id)?;
        if let OperationState::Sending { is_done: false } = operation.state {
            operation.state = OperationState::Sent;
            return None;
        }
        self.end(id, Ok(()), Some(flow), tags)
    }

    /// The server has all bytes of a put.
    ///
    /// # Errors
    /// When it has none, or there is no such put.
    pub(super) fn done(
        &mut self,
        id: OperationId,
        node: NodeId,
        tags: &mut Tags,
    ) -> Result<Option<Completion>, String> {
        let operation = self.open.get_mut(&id).filter(|operation| operation.node == node);
        match operation.map(|operation| &mut operation.state) {
            Some(OperationState::Sent) => Ok(self.end(id, Ok(()), None, tags)),
            Some(OperationState::Sending { is_done: is_done @ false }) => {
                *is_done = true;
                Ok(None)
            }
            _ => Err(format!("it ended operation {id}, which is not open or has nothing to end")),
        }
    }

    /// The server did not carry an operation out.
    ///
    /// # Errors
    /// When there is none, or it has begun.
    pub(super) fn failed(
        &mut self,
        id: OperationId,
        node: NodeId,
        reason: Reason,
        tags: &mut Tags,
    ) -> Result<Option<Completion>, String> {
        let operation = self.open.get(&id).filter(|operation| operation.node == node);
        match operation {
            Some(OpenOperation { state: OperationState::Asked { .. }, offset, len, .. }) => {
                let error = reason.to_error(node, *offset, *len as u64);
                Ok(self.end(id, Err(error), None, tags))
            }
            _ => Err(format!("it failed operation {id}, which is not open or has begun")),
        }
    }

    /// A peer is lost: ends what it was asked for and what it owes a word. Memory that moves ends with its flow.
    pub(super) fn abandon(&mut self, node: NodeId, tags: &mut Tags) -> Vec<Completion> {
        let moves = |state: &OperationState| {
            matches!(state, OperationState::Receiving { .. } | OperationState::Sending { .. })
        };
        let waits = |operation: &OpenOperation| operation.node == node && !moves(&operation.state);
        let ids: Vec<OperationId> =
            self.open.iter().filter(|(_, operation)| waits(operation)).map(|(id, _)| *id).collect();
        let lost = || Err(TransferError::PeerLost(node));
        ids.into_iter().filter_map(|id| self.end(id, lost(), None, tags)).collect()
    }

    /// The flow of a lost peer's operation has ended, or never will.
    pub(super) fn lose(&mut self, id: OperationId, flow: Flow, tags: &mut Tags) -> Option<Completion> {
        let node = self.open.get(&id)?.node;
        self.end(id, Err(TransferError::PeerLost(node)), Some(flow), tags)
    }

    fn end(
        &mut self,
        id: OperationId,
        result: Result<(), TransferError>,
        flow: Option<Flow>,
        tags: &mut Tags,
    ) -> Option<Completion> {
        let OpenOperation { len, token, state, .. } = self.open.remove(&id)?;
        let block = flow.map(Flow::into_block);
        // Under the tag of memory that never came back something may still arrive.
        let is_free = !matches!(block, Some(None));
        let (tag, asked) = match state {
            OperationState::Asked { local: LocalMemory::Get(memory), tag } => (tag, Some(memory)),
            OperationState::Asked { local: LocalMemory::Put(_), .. }
            | OperationState::Sending { .. }
            | OperationState::Sent => (None, None),
            OperationState::Receiving { tag } => (Some(tag), None),
        };
        if let Some(tag) = tag.filter(|_| is_free) {
            tags.give_back(tag);
        }
        let moved = match block.flatten() {
            Some(Block::Into { memory, .. }) => Some(memory),
            Some(Block::From(_) | Block::Lease(_)) | None => None,
        };
        Some(Completion { token, result: result.map(|()| len), memory: asked.or(moved) })
    }
}
