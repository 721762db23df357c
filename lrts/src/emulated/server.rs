//! Served operations: those that one peer posted to this node, until their last byte is sent or written.
//!
//! 1. The peer may have [`OPERATIONS_MAX`] open: that bounds what it can make this node remember.
//! 2. Slot, generation and range are compared with this node's [`Regions`]; nothing else decides
//!    which bytes are touched.
//! 3. The claim is taken before the first byte and held until the last. A busy range waits here and is
//!    tried again when this node is told that its claim has ended ([`Waiters`]).
//! 4. Whatever breaks the order of an operation is a breach, told in words.

use super::outgoing::{Outgoing, StreamOwner};
use super::stream::{Destination, Source};
use super::wire::{Header, OPERATIONS_MAX, OperationId, Range, Reason};
use crate::region::claim::ClaimMode;
use crate::region::waiters::Waiters;
use crate::region::{RegionKey, Regions};
use std::collections::BTreeMap;
use std::sync::Arc;

enum ServedOperation {
    /// The range is busy.
    Waiting { range: Range, mode: ClaimMode },
    /// A get; `Outgoing` has its stream.
    Sending,
    /// A put whose chunks arrive.
    Filling(Destination),
}

/// Our half of one peer's operations here.
pub(super) struct Server {
    regions: Arc<Regions>,
    open: BTreeMap<OperationId, ServedOperation>,
    waiting: Waiters<OperationId>,
}

impl Server {
    pub(super) fn new(regions: Arc<Regions>) -> Self {
        Self { open: BTreeMap::new(), waiting: Waiters::new(Arc::clone(&regions)), regions }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    /// The count of this node's news that has to change before a busy range is to be tried again, if there is one.
    pub(super) fn waiting_since(&self) -> Option<u64> {
        self.waiting.waiting_since()
    }

    /// The peer posted a get.
    pub(super) fn get(
        &mut self,
        id: OperationId,
        range: Range,
        outgoing: &mut Outgoing,
    ) -> Result<(), String> {
        self.admit(id)?;
        self.serve(id, range, ClaimMode::Read, &[], outgoing);
        Ok(())
    }

    /// The peer posted a put, with all its data or none.
    pub(super) fn put(
        &mut self,
        id: OperationId,
        range: Range,
        data: &[u8],
        outgoing: &mut Outgoing,
    ) -> Result<(), String> {
        if !data.is_empty() && data.len() as u64 != range.len {
            return Err(format!("{} bytes came with a put of {}", data.len(), range.len));
        }
        self.admit(id)?;
        self.serve(id, range, ClaimMode::Write, data, outgoing);
        Ok(())
    }

    fn admit(&self, id: OperationId) -> Result<(), String> {
        if self.open.len() >= OPERATIONS_MAX {
            return Err(format!("it posted more than {OPERATIONS_MAX} operations at a time"));
        }
        if self.open.contains_key(&id) {
            return Err(format!("it posted operation {id} twice"));
        }
        Ok(())
    }

    /// Claims the range and starts what it is claimed for, or leaves the operation waiting.
    fn serve(
        &mut self,
        id: OperationId,
        range: Range,
        mode: ClaimMode,
        data: &[u8],
        outgoing: &mut Outgoing,
    ) {
        let key = RegionKey {
            node: self.regions.node(),
            slot: range.slot,
            generation: range.generation,
            len: range.len,
        };
        let claim = || self.regions.claim(&key, range.offset, range.len, mode);
        let claim = match self.waiting.claim(id, (&key, mode), claim) {
            Ok(Some(claim)) => claim,
            Ok(None) => {
                crate::sometimes!("a get or put waited for others to leave its memory");
                self.open.insert(id, ServedOperation::Waiting { range, mode });
                return;
            }
            Err(error) => {
                outgoing.push(Header::Failed { id, reason: Reason::of(&error) });
                return;
            }
        };
        if claim.is_empty() {
            outgoing.push(Header::Done { id });
            return;
        }
        match mode {
            ClaimMode::Read => {
                self.open.insert(id, ServedOperation::Sending);
                outgoing.start(StreamOwner::GetServed, id, Source::Region(claim));
            }
            ClaimMode::Write => {
                let mut into = Destination::region(claim);
                // Data that came along are as long as the range, so they fill it; none do not.
                if into.fill(0, data).is_ok() {
                    outgoing.push(Header::Done { id });
                } else {
                    self.open.insert(id, ServedOperation::Filling(into));
                    outgoing.push(Header::Granted { id });
                }
            }
        }
    }

    /// Data of a granted put arrived.
    pub(super) fn chunk(
        &mut self,
        id: OperationId,
        at: u64,
        data: &[u8],
        outgoing: &mut Outgoing,
    ) -> Result<(), String> {
        let Some(into) = self.destination(id) else {
            return Err(format!("it sent data for operation {id}, which is no granted put"));
        };
        into.fill(at, data)?;
        self.end_if_full(id, outgoing);
        Ok(())
    }

    /// Where the data of a granted put go.
    pub(super) fn destination(&mut self, id: OperationId) -> Option<&mut Destination> {
        match self.open.get_mut(&id) {
            Some(ServedOperation::Filling(into)) => Some(into),
            _ => None,
        }
    }

    /// Ends a put whose data are all here.
    pub(super) fn end_if_full(&mut self, id: OperationId, outgoing: &mut Outgoing) {
        if self.destination(id).is_some_and(|into| into.is_full()) {
            // The claim ends before the peer learns that its put is over.
            self.open.remove(&id);
            outgoing.push(Header::Done { id });
        }
    }

    /// The last byte of a get is on its way; its claim went with the stream.
    pub(super) fn sent(&mut self, id: OperationId) {
        self.open.remove(&id);
    }

    /// Tries busy ranges once more, when it is time; when `closing`, gives up those that still are. Returns whether any went on.
    pub(super) fn retry(&mut self, closing: bool, outgoing: &mut Outgoing) -> bool {
        if !closing && !self.waiting.is_due() {
            return false;
        }
        let before = self.waiting.len();
        for id in self.waiting.take() {
            if let Some(ServedOperation::Waiting { range, mode }) = self.open.remove(&id) {
                self.serve(id, range, mode, &[], outgoing);
            }
        }
        if closing {
            for id in self.waiting.take() {
                self.open.remove(&id);
                outgoing.push(Header::Failed { id, reason: Reason::Closing });
            }
        }
        self.waiting.len() < before
    }

    /// The peer is gone: gives all claims back.
    pub(super) fn abandon(&mut self) {
        self.open.clear();
        self.waiting.take();
    }
}
