//! Posted operations: the gets and puts of this node at one peer, until their completions.
//!
//! 1. A get ends when its memory is full, by `Done` if it asked for no byte, or by `Failed` before its first byte.
//! 2. A put whose data fit one frame brings them along. It ends by `Done` or `Failed`; `Granted` asks for
//!    the data of one that brought none, or whose range was busy so that they were dropped.
//! 3. Whatever else the peer says about an operation is a breach, told in words.

use super::outgoing::{Outgoing, StreamOwner};
use super::stream::{Destination, Source};
use super::wire::{Header, OPERATIONS_MAX, OperationId, Range, Reason};
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Completion, Get, Put, Refused, Token};
use crate::memory::Memory;
use crate::region::RegionKey;
use std::collections::BTreeMap;

crate::knob! {
    /// Operations with one peer that may be open at a time: what it remembers of them has a bound.
    fn open_max() -> usize = OPERATIONS_MAX, or [1, 2];
}

/// The data of an operation at this end.
enum LocalData {
    Get { into: Destination },
    Put { from: Memory, granted: bool },
}

/// An operation whose completion is still to come.
struct OpenOperation {
    token: Token,
    offset: u64,
    len: usize,
    data: LocalData,
}

impl OpenOperation {
    fn complete(self, result: Result<usize, TransferError>) -> Completion {
        let memory = match self.data {
            LocalData::Get { into } => into.into_memory(),
            LocalData::Put { .. } => None,
        };
        Completion { token: self.token, result, memory }
    }
}

/// Our half of the operations at one peer.
pub(super) struct Poster {
    peer: NodeId,
    last_id: OperationId,
    open: BTreeMap<OperationId, OpenOperation>,
}

impl Poster {
    pub(super) fn new(peer: NodeId) -> Self {
        Self { peer, last_id: 0, open: BTreeMap::new() }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn insert(&mut self, operation: OpenOperation) -> OperationId {
        self.last_id += 1;
        self.open.insert(self.last_id, operation);
        self.last_id
    }

    /// Opens a get whose memory has room for it.
    ///
    /// # Errors
    /// The operation when too many are open.
    pub(super) fn get(&mut self, get: Get, outgoing: &mut Outgoing) -> Result<(), Refused<Get>> {
        if self.open.len() >= open_max() {
            return Err(Refused(get));
        }
        let Get { key, offset, into, len, token } = get;
        let data = LocalData::Get { into: Destination::memory(into, len) };
        let id = self.insert(OpenOperation { token, offset, len, data });
        outgoing.push(Header::Get { id, range: range_of(&key, offset, len) });
        Ok(())
    }

    /// Opens a put.
    ///
    /// # Errors
    /// The operation when too many are open.
    pub(super) fn put(&mut self, put: Put, outgoing: &mut Outgoing) -> Result<(), Refused<Put>> {
        if self.open.len() >= open_max() {
            return Err(Refused(put));
        }
        let Put { key, offset, from, token } = put;
        let len = from.len();
        let along = (len <= outgoing.chunk_bytes_max()).then(|| from.clone());
        let id =
            self.insert(OpenOperation { token, offset, len, data: LocalData::Put { from, granted: false } });
        let header = Header::Put { id, range: range_of(&key, offset, len) };
        match along {
            Some(data) => outgoing.push_with(header, data),
            None => outgoing.push(header),
        }
        Ok(())
    }

    /// The peer claimed the range of a put: sends its data.
    pub(super) fn granted(&mut self, id: OperationId, outgoing: &mut Outgoing) -> Result<(), String> {
        match self.open.get_mut(&id).map(|operation| &mut operation.data) {
            Some(LocalData::Put { from, granted }) if !*granted && !from.is_empty() => {
                *granted = true;
                outgoing.start(StreamOwner::PutPosted, id, Source::Memory(from.clone()));
                Ok(())
            }
            _ => Err(format!("it granted operation {id}, which asked for no grant")),
        }
    }

    /// Data of a get arrived.
    pub(super) fn chunk(
        &mut self,
        id: OperationId,
        at: u64,
        data: &[u8],
    ) -> Result<Option<Completion>, String> {
        let Some(into) = self.destination(id) else {
            return Err(format!("it sent data for operation {id}, which is no open get"));
        };
        into.fill(at, data)?;
        Ok(self.end_if_full(id))
    }

    /// Where the data of an open get go.
    pub(super) fn destination(&mut self, id: OperationId) -> Option<&mut Destination> {
        match self.open.get_mut(&id) {
            Some(OpenOperation { data: LocalData::Get { into }, .. }) => Some(into),
            _ => None,
        }
    }

    /// Ends a get whose data are all here.
    pub(super) fn end_if_full(&mut self, id: OperationId) -> Option<Completion> {
        self.destination(id).filter(|into| into.is_full())?;
        let operation = self.open.remove(&id)?;
        let len = operation.len;
        Some(operation.complete(Ok(len)))
    }

    /// The peer says that an operation is over.
    pub(super) fn done(&mut self, id: OperationId, outgoing: &Outgoing) -> Result<Completion, String> {
        let plausible = |operation: &OpenOperation| match &operation.data {
            LocalData::Get { .. } => operation.len == 0,
            LocalData::Put { granted: false, .. } => operation.len <= outgoing.chunk_bytes_max(),
            LocalData::Put { granted: true, .. } => !outgoing.is_sending(StreamOwner::PutPosted, id),
        };
        if !self.open.get(&id).is_some_and(plausible) {
            return Err(format!("it ended operation {id}, which is not open or lacks data"));
        }
        let operation = self.open.remove(&id).expect("just looked at");
        let len = operation.len;
        Ok(operation.complete(Ok(len)))
    }

    /// The peer did not carry an operation out.
    pub(super) fn failed(&mut self, id: OperationId, reason: Reason) -> Result<Completion, String> {
        let plausible = |operation: &OpenOperation| match &operation.data {
            LocalData::Get { into } => into.is_untouched(),
            LocalData::Put { granted, .. } => !granted,
        };
        if !self.open.get(&id).is_some_and(plausible) {
            return Err(format!("it failed operation {id}, which is not open or has begun"));
        }
        let operation = self.open.remove(&id).expect("just looked at");
        let error = reason.to_error(self.peer, operation.offset, operation.len as u64);
        Ok(operation.complete(Err(error)))
    }

    /// The peer is gone: completes all that is open.
    pub(super) fn abandon(&mut self) -> Vec<Completion> {
        let lost = || Err(TransferError::PeerLost(self.peer));
        std::mem::take(&mut self.open).into_values().map(|operation| operation.complete(lost())).collect()
    }
}

fn range_of(key: &RegionKey, offset: u64, len: usize) -> Range {
    Range { slot: key.slot, generation: key.generation, offset, len: len as u64 }
}
