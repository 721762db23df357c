//! Exchange: all that a node has with its peers. It lives behind one lock and never calls the runtime: what concerns that leaves it
//! as [`Notification`].
//!
//! 1. Frames and own messages ([`Control`]) are written into buffers at once and leave in that order: by the caller, if it may
//!    call MPI, else with the next [`Exchange::advance`]. Own messages that find no buffer wait, and frames behind them.
//! 2. Long transfers are flows, looked at after the messages of the same look: what their ends mean comes before whatever the
//!    peer says next.
//! 3. Nodes part as [`Goodbyes`](crate::fabric::goodbye::Goodbyes) says.
//! 4. Whatever fails on the way to a peer, and whatever no correct peer sends, makes it lost, once. What fails and is nobody's
//!    makes all lost.
//! 5. What MPI still has of a lost peer's transfers is waited for [`LINGER`] long; then their operations end without
//!    their memory, which MPI may touch for ever.

mod ending;
mod hearing;
mod sending;

use super::callers::Ticket;
use super::endpoint::{Endpoint, Event, Letter, SENDS};
use super::flow::Flow;
use super::poster::Poster;
use super::process::Process;
use super::server::{Ends, Server};
use super::wire::{Control, Tags};
use crate::ambient::clock;
use crate::emulated::wire::OperationId;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::path_use::PathUse;
use crate::tcp::keepalive::Keepalives;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One look at the keepalive connections is a system call, some hundred nanoseconds.
const KEEPALIVE_INTERVAL: u32 = 1_024;

/// How long MPI may keep pieces of a lost peer's transfers. Receives are given back at once, sends by some MPIs never.
const LINGER: Duration = Duration::from_secs(2);

pub(super) type Notification = crate::notification::Notification<Arrival>;

type Peers = crate::fabric::peers::Peers<Control, Server, Process>;

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
pub(super) struct Exchange {
    node: NodeId,
    endpoint: Endpoint,
    incoming: Arc<Pool>,
    keepalives: Keepalives,
    peers: Peers,
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
    notifications: Vec<Notification>,
}

/// Parts of an exchange.
pub(super) struct Parts {
    pub(super) node: NodeId,
    pub(super) endpoint: Endpoint,
    pub(super) keepalives: Keepalives,
    /// By node; `None` for this one.
    pub(super) peers: Vec<Option<(Process, Server)>>,
}

impl Exchange {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { node, endpoint, keepalives, peers } = parts;
        Self {
            node,
            incoming: Arc::clone(endpoint.incoming()),
            keepalives,
            poster: Poster::new(),
            tags: Tags::new(),
            flows: Vec::new(),
            sends: vec![node; SENDS],
            letters: VecDeque::new(),
            read: Vec::new(),
            lingering: None,
            rounds: 0,
            events: Vec::new(),
            notifications: Vec::new(),
            endpoint,
            peers: Peers::new(peers),
        }
    }

    pub(super) fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    pub(super) fn keepalives(&self) -> &Keepalives {
        &self.keepalives
    }

    /// Frames that a peer was sent.
    pub(super) fn sent(&self, peer: NodeId) -> PathUse {
        self.peers.get(peer).map(|peer| peer.sent).unwrap_or_default()
    }

    /// Whether there are notifications.
    pub(super) fn has_notifications(&self) -> bool {
        !self.notifications.is_empty()
    }

    /// Takes the notifications.
    pub(super) fn take_notifications(&mut self, notifications: &mut Vec<Notification>) {
        notifications.append(&mut self.notifications);
    }

    /// Takes back messages that were read.
    pub(super) fn give_back(&mut self, read: &mut Vec<Arrival>) {
        self.read.append(read);
    }

    /// Lets everything go on that can; after a sleep also what a look costs a system call. Returns whether anything did.
    pub(super) fn advance(&mut self, closing: bool, slept: bool, ticket: Ticket) -> bool {
        self.rounds = self.rounds.wrapping_add(1);
        let mut happened = self.post(ticket);
        let mut events = std::mem::take(&mut self.events);
        if let Err(error) = self.endpoint.poll(&mut events, ticket) {
            self.lose_all(&error.to_string(), ticket);
        }
        happened |= !events.is_empty();
        for event in events.drain(..) {
            self.take(event, ticket);
        }
        self.events = events;
        happened |= self.advance_flows(ticket);
        if slept || closing || self.rounds.is_multiple_of(KEEPALIVE_INTERVAL) {
            happened |= self.check_keepalives(ticket);
        }
        if closing {
            self.say_goodbyes();
        }
        happened |= self.push_out(closing, ticket);
        happened
    }

    /// Posts what others left: read buffers, written messages.
    fn post(&mut self, ticket: Ticket) -> bool {
        let happened = !self.letters.is_empty();
        while let Some(arrival) = self.read.pop() {
            if let Err(error) = self.endpoint.post(&arrival, ticket) {
                self.lose_all(&error.to_string(), ticket);
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
                    self.lose(peer, cause, ticket);
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
        let is_lost = self.peers.is_lost(peer);
        let Self { poster, tags, .. } = self;
        match purpose {
            Purpose::Posted(id) => {
                let ended = if is_lost { poster.lose(id, flow, tags) } else { poster.moved(id, flow, tags) };
                self.notifications.extend(ended.map(Notification::Completion));
            }
            Purpose::Served(id) => {
                let server = self.peers.get_mut(peer).map(|peer| &mut peer.server);
                if let Some(control) = server.and_then(|server| server.moved(id, flow, tags)) {
                    self.peers.tell(peer, control);
                }
            }
        }
    }

    fn push_out(&mut self, closing: bool, ticket: Ticket) -> bool {
        let mut happened = false;
        for node in self.peers.take_needing_progress() {
            let Self { endpoint, peers, tags, .. } = self;
            let Some(peer) = peers.get_mut(node) else { continue };
            let ends = Ends { own: endpoint.own(), peer: &peer.way };
            let tasks = peer.server.retry(closing, &ends, tags);
            happened |= !tasks.is_empty();
            for task in tasks {
                self.begin(node, task);
            }
            happened |= self.flush(node, Some(ticket));
        }
        happened
    }

    /// Whether something can go on that nobody will announce.
    pub(super) fn needs_progress(&self) -> bool {
        !self.notifications.is_empty()
            || !self.letters.is_empty()
            || !self.read.is_empty()
            || self.peers.any_needs_progress()
    }
}
