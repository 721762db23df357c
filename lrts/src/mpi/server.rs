//! Served operations: those that one peer posted to this node, until their last byte has moved.
//!
//! 1. Key, range and rights are judged by this node's [`Regions`]; the range is claimed before the first byte and until the last.
//! 2. A range that another operation holds makes the peer wait; it is tried again when this node is told that the operation is over
//!    ([`Waiters`]). So does a lack of tags, of which there are thousands; then it is tried again with every progress.
//! 3. What no correct peer asks is a breach, told in words.

use super::flow::{Block, Flow, Process};
use super::wire::{Control, Tags, is_transfer_tag};
use crate::emulated::wire::{OPERATIONS_MAX, OperationId, Range, Reason};
use crate::fabric::peers::Serve;
use crate::region::claim::ClaimMode;
use crate::region::waiters::Waiters;
use crate::region::{RegionKey, Regions};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Operations that a peer may make this node remember. It has [`OPERATIONS_MAX`] open at most; a get that is over there, of which MPI has not
/// said here that it has left, counts here still.
const SERVICES_MAX: usize = 16 * OPERATIONS_MAX;

/// Request of a peer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    /// To be sent a range under its tag.
    Get { tag: u32 },
    /// To send a range.
    Put,
}

enum Service {
    /// The range is busy, or no tag is free.
    Waiting { range: Range, request: Request },
    /// A get; the flow has the claim.
    Sending,
    /// A put; likewise.
    Receiving { tag: u32 },
}

/// Work for a peer: an answer, and the flow that starts with it.
pub(super) struct Task {
    pub(super) answer: Control,
    /// To be started with the answer.
    pub(super) flow: Option<(OperationId, Flow)>,
}

/// One peer's operations here.
pub(super) struct Server {
    regions: Arc<Regions>,
    open: BTreeMap<OperationId, Service>,
    waiting: Waiters<OperationId>,
    /// Those for which no tag was free.
    tagless: Vec<OperationId>,
}

/// The two ends of a flow.
pub(super) struct Ends<'a> {
    pub(super) own: &'a Process,
    pub(super) peer: &'a Process,
}

impl Ends<'_> {
    /// Where this node receives what the peer sends.
    pub(super) fn receiving(&self) -> Process {
        Process { rank: self.peer.rank, ..self.own.clone() }
    }
}

impl Serve for Server {
    fn is_idle(&self) -> bool {
        self.open.is_empty()
    }

    fn is_waiting(&self) -> bool {
        !self.waiting.is_empty() || !self.tagless.is_empty()
    }

    fn is_due(&self) -> bool {
        self.waiting.is_due() || !self.tagless.is_empty()
    }
}

impl Server {
    pub(super) fn new(regions: Arc<Regions>) -> Self {
        let waiting = Waiters::new(Arc::clone(&regions));
        Self { regions, open: BTreeMap::new(), waiting, tagless: Vec::new() }
    }

    /// The peer posted an operation.
    ///
    /// # Errors
    /// What no correct peer asks, in words.
    pub(super) fn open(
        &mut self,
        id: OperationId,
        range: Range,
        request: Request,
        ends: &Ends<'_>,
        tags: &mut Tags,
    ) -> Result<Option<Task>, String> {
        if self.open.len() >= SERVICES_MAX {
            return Err(format!("it posted more than {OPERATIONS_MAX} operations at a time"));
        }
        if self.open.contains_key(&id) {
            return Err(format!("it posted operation {id} twice"));
        }
        if let Request::Get { tag } = request
            && !is_transfer_tag(tag)
        {
            return Err(format!("it wants operation {id} under the tag {tag}, which no transfer has"));
        }
        Ok(self.serve(id, range, request, ends, tags))
    }

    fn serve(
        &mut self,
        id: OperationId,
        range: Range,
        request: Request,
        ends: &Ends<'_>,
        tags: &mut Tags,
    ) -> Option<Task> {
        let Range { slot, generation, offset, len } = range;
        let key = RegionKey { node: self.regions.node(), slot, generation, len };
        let mode = if request == Request::Put { ClaimMode::Write } else { ClaimMode::Read };
        let claim = || self.regions.claim(&key, offset, len, mode);
        let claim = match self.waiting.claim(id, (&key, mode), claim) {
            Ok(Some(claim)) => claim,
            Ok(None) => {
                self.open.insert(id, Service::Waiting { range, request });
                return None;
            }
            Err(error) => {
                return Some(Task { answer: Control::Failed { id, reason: Reason::of(&error) }, flow: None });
            }
        };
        let (service, answer, flow) = match request {
            Request::Get { tag } => {
                let flow = Flow::send(Block::Lease(claim), ends.peer.clone(), tag);
                (Service::Sending, Control::Sending { id }, flow)
            }
            Request::Put => {
                let Some(tag) = tags.take() else {
                    self.open.insert(id, Service::Waiting { range, request });
                    self.tagless.push(id);
                    return None;
                };
                let flow = Flow::receive(Block::Lease(claim), ends.receiving(), tag);
                (Service::Receiving { tag }, Control::Receiving { id, tag }, flow)
            }
        };
        self.open.insert(id, service);
        Some(Task { answer, flow: Some((id, flow)) })
    }

    /// A flow is over: its claim ends. Returns what to tell the peer.
    pub(super) fn moved(&mut self, id: OperationId, flow: Flow, tags: &mut Tags) -> Option<Control> {
        // Before anybody learns that it is over.
        drop(flow.into_block());
        match self.open.remove(&id) {
            Some(Service::Receiving { tag }) => {
                tags.give_back(tag);
                Some(Control::Done { id })
            }
            _ => None,
        }
    }

    /// Tries busy ranges once more, when it is time; when `closing`, gives up those that still are. Returns what became of those that
    /// are no longer.
    pub(super) fn retry(&mut self, closing: bool, ends: &Ends<'_>, tags: &mut Tags) -> Vec<Task> {
        let mut tasks = Vec::new();
        if !closing && !self.is_due() {
            return tasks;
        }
        let tagless = std::mem::take(&mut self.tagless);
        for id in self.waiting.take().into_iter().chain(tagless) {
            if let Some(Service::Waiting { range, request }) = self.open.remove(&id) {
                tasks.extend(self.serve(id, range, request, ends, tags));
            }
        }
        if closing {
            for id in self.waiting.take().into_iter().chain(self.tagless.drain(..)) {
                self.open.remove(&id);
                tasks.push(Task { answer: Control::Failed { id, reason: Reason::Closing }, flow: None });
            }
        }
        tasks
    }

    /// The peer is lost: nothing more is begun.
    pub(super) fn abandon(&mut self) {
        self.open.clear();
        self.waiting.take();
        self.tagless.clear();
    }
}
