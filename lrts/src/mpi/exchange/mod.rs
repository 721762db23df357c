//! Matched exchange: messages of MPI, and long transfers as flows of matched messages, by the rules of every
//! [`Exchange`].
//!
//! 1. Frames and own messages ([`Control`]) are written into buffers at once and leave in that order: by the caller, if it may
//!    call MPI, else with the next [`MatchedExchange::advance`].
//! 2. Long transfers are looked at after the messages of the same look: what their ends mean comes before whatever the
//!    peer says next.
//! 3. What fails and is nobody's makes all peers lost.
//! 4. What MPI still has of a lost peer's transfers is waited for [`LINGER`] long; then their operations end without
//!    their memory, which MPI may touch for ever.

mod hearing;
mod sending;

use super::callers::Ticket;
use super::endpoint::{Endpoint, Event, Letter, SENDS};
use super::flow::{Flow, Process};
use super::poster::Poster;
use super::server::{Ends, Server};
use super::start::BACKEND;
use super::wire::{Control, Tags};
use crate::ambient::clock;
use crate::emulated::wire::OperationId;
use crate::fabric::exchange::{Content, Exchange, Peering, PeeringOf, Refusal, Way};
use crate::fabric::peers::Peers;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::lrts::Completion;
use crate::tcp::keepalive::standalone::Signs;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One look at the keepalive connections is a system call, some hundred nanoseconds.
const KEEPALIVE_INTERVAL: u32 = 1_024;

/// How long MPI may keep pieces of a lost peer's transfers. Receives are given back at once, sends by some MPIs never.
const LINGER: Duration = Duration::from_secs(2);

pub(super) type Notification = crate::notification::Notification<Arrival>;

impl Way for Process {}

/// Whose transfer a flow is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Ours.
    Posted(OperationId),
    /// The peer's.
    Served(OperationId),
}

struct Running {
    peer: NodeId,
    purpose: Purpose,
    flow: Flow,
}

/// All that one node has with its peers, behind one lock.
pub(super) struct MatchedExchange {
    peering: PeeringOf<Self>,
    endpoint: Endpoint,
    incoming: Arc<Pool>,
    poster: Poster,
    tags: Tags,
    flows: Vec<Running>,
    /// By buffer of the sending pool: to whom.
    sends: Vec<NodeId>,
    /// Written, by threads that may not call MPI.
    letters: VecDeque<Letter>,
    /// Read, and to be posted again.
    read: Vec<Arrival>,
    lingering: Option<Instant>,
    /// How often it was advanced.
    rounds: u32,
    events: Vec<Event>,
}

/// Parts of an exchange.
pub(super) struct Parts {
    pub(super) node: NodeId,
    pub(super) endpoint: Endpoint,
    pub(super) signs: Box<dyn Signs>,
    /// By node; `None` for this one.
    pub(super) peers: Vec<Option<(Process, Server)>>,
}

impl MatchedExchange {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { node, endpoint, signs, peers } = parts;
        let peers = Peers::new(peers);
        Self {
            peering: Peering {
                node,
                backend: BACKEND,
                signs,
                peers,
                notifications: Vec::new(),
                untold: Vec::new(),
            },
            incoming: Arc::clone(endpoint.incoming()),
            poster: Poster::new(),
            tags: Tags::new(),
            flows: Vec::new(),
            sends: vec![node; SENDS],
            letters: VecDeque::new(),
            read: Vec::new(),
            lingering: None,
            rounds: 0,
            events: Vec::new(),
            endpoint,
        }
    }

    pub(super) fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    /// Takes back messages that were read.
    pub(super) fn give_back(&mut self, read: &mut Vec<Arrival>) {
        self.read.append(read);
    }

    /// Lets everything go on that can; after a sleep also what a look costs a system call. Returns whether anything did.
    pub(super) fn advance(&mut self, closing: bool, slept: bool, ticket: Ticket) -> bool {
        self.rounds = self.rounds.wrapping_add(1);
        let mut happened = self.post_left_over(ticket);
        let mut events = std::mem::take(&mut self.events);
        if let Err(error) = self.endpoint.poll(&mut events, ticket) {
            self.lose_all(&error.to_string(), Some(ticket));
        }
        happened |= !events.is_empty();
        for event in events.drain(..) {
            self.take(event, ticket);
        }
        self.events = events;
        happened |= self.advance_flows(ticket);
        if slept || closing || self.rounds.is_multiple_of(KEEPALIVE_INTERVAL) {
            happened |= self.check_signs(Some(ticket));
        }
        if closing {
            self.say_goodbyes();
        }
        happened |= self.push_out_to_peers(closing, Some(ticket));
        happened
    }

    /// Posts what others left: read buffers, written messages.
    fn post_left_over(&mut self, ticket: Ticket) -> bool {
        let happened = !self.letters.is_empty();
        while let Some(arrival) = self.read.pop() {
            if let Err(error) = self.endpoint.post(&arrival, ticket) {
                self.lose_all(&error.to_string(), Some(ticket));
            }
        }
        while let Some(letter) = self.letters.pop_front() {
            self.send_letter(letter, ticket);
        }
        happened
    }

    fn advance_flows(&mut self, ticket: Ticket) -> bool {
        let mut happened = false;
        let mut index = 0;
        while index < self.flows.len() {
            let Running { peer, flow, .. } = &mut self.flows[index];
            match flow.advance(ticket) {
                Ok(moved) => happened |= moved,
                Err(cause) => {
                    let peer = *peer;
                    self.lose(peer, cause, Some(ticket));
                }
            }
            if self.flows[index].flow.is_over() {
                happened = true;
                let running = self.flows.swap_remove(index);
                self.finish(running);
            } else {
                index += 1;
            }
        }
        if self.lingering.is_some_and(|since| clock::since(since) > LINGER) {
            self.give_up_lingering();
            happened = true;
        }
        happened
    }

    /// A flow is over.
    fn finish(&mut self, running: Running) {
        let Running { peer, purpose, flow } = running;
        let Self { peering, poster, tags, .. } = self;
        match purpose {
            Purpose::Posted(id) => {
                let is_lost = peering.peers.is_lost(peer);
                let ended = if is_lost { poster.lose(id, flow, tags) } else { poster.moved(id, flow, tags) };
                peering.complete(ended);
            }
            Purpose::Served(id) => {
                let server = peering.peers.get_mut(peer).map(|peer| &mut peer.server);
                if let Some(control) = server.and_then(|server| server.moved(id, flow, tags)) {
                    peering.peers.tell(peer, control);
                }
            }
        }
    }

    /// Whether something can go on that nobody will announce.
    pub(super) fn needs_progress(&self) -> bool {
        !self.peering.notifications.is_empty()
            || !self.letters.is_empty()
            || !self.read.is_empty()
            || self.peering.peers.any_needs_progress()
    }
}

impl Exchange for MatchedExchange {
    type Control = Control;
    type Server = Server;
    type Way = Process;
    type Message = Arrival;
    /// Messages may be left to another thread; what fails is heard only by one that calls MPI.
    type Caller = Option<Ticket>;

    fn peering(&self) -> &PeeringOf<Self> {
        &self.peering
    }

    fn peering_mut(&mut self) -> &mut PeeringOf<Self> {
        &mut self.peering
    }

    fn count(&self, node: NodeId) -> usize {
        self.poster.count(node)
    }

    fn post(
        &mut self,
        target: NodeId,
        content: Content<'_, Control>,
        caller: Option<Ticket>,
    ) -> Result<(), Refusal> {
        self.write(target, content, caller)
    }

    fn obey(&mut self, source: NodeId, control: Control) -> Result<(), String> {
        self.obey_match(source, control)
    }

    fn retry(&mut self, node: NodeId, closing: bool) -> bool {
        let Self { endpoint, peering, tags, .. } = self;
        let Some(peer) = peering.peers.get_mut(node) else { return false };
        let ends = Ends { own: endpoint.own(), peer: &peer.way };
        let tasks = peer.server.retry(closing, &ends, tags);
        let happened = !tasks.is_empty();
        for task in tasks {
            self.begin(node, task);
        }
        happened
    }

    /// What was asked of it and not answered ends; what moves has arrived, and MPI will say so.
    fn conclude(&mut self, node: NodeId) {
        let unanswered = self.poster.abandon(node, &mut self.tags);
        self.peering.complete(unanswered);
    }

    fn abandon(&mut self, node: NodeId, _is_news: bool, caller: Option<Ticket>) {
        if let Some(peer) = self.peering.peers.get_mut(node) {
            peer.server.abandon();
        }
        self.conclude(node);
        for running in self.flows.iter_mut().filter(|running| running.peer == node) {
            self.lingering.get_or_insert_with(clock::now);
            if let Some(ticket) = caller {
                running.flow.stop(ticket);
            }
        }
    }
}

impl MatchedExchange {
    /// Ends the operations of lost peers whose memory MPI does not give back.
    fn give_up_lingering(&mut self) {
        self.lingering = None;
        let Self { flows, peering, poster, tags, .. } = self;
        let lost = flows.extract_if(.., |one| peering.peers.is_lost(one.peer));
        let ended = lost.filter_map(|Running { purpose, flow, .. }| match purpose {
            Purpose::Posted(id) => poster.lose(id, flow, tags),
            Purpose::Served(_) => None,
        });
        let ended: Vec<Completion> = ended.collect();
        peering.complete(ended);
    }

    /// Whether something ends by the clock, or by what MPI alone knows.
    pub(in crate::mpi) fn watches_clock(&self) -> bool {
        !self.flows.is_empty() || self.endpoint.is_sending() || self.lingering.is_some()
    }

    /// Whether all goodbyes were heard, no operation is open, and MPI needs no buffer any more, except for messages to lost peers.
    pub(in crate::mpi) fn is_closed(&self) -> bool {
        self.peering.peers.are_over()
            && self.poster.is_idle()
            && self.endpoint.under_way().all(|slot| self.peering.peers.is_lost(self.sends[slot]))
    }
}
