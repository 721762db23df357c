//! All that a node has with its peers. It lives behind one lock; what concerns the runtime leaves it as [`News`].
//!
//! 1. Frames and own messages ([`Control`]) are written into buffers at once and leave in that order: by the caller, if it may
//!    call MPI, else with the next [`Exchange::advance`]. Own messages that find no buffer wait, and frames behind them.
//! 2. Long transfers are flows, looked at after the messages of the same look: what their ends mean comes before whatever the
//!    peer says next.
//! 3. Nodes part as [`Parting`] says.
//! 4. Whatever fails on the way to a peer, and whatever no correct peer sends, makes it lost, once. What fails and is nobody's
//!    makes all lost.
//! 5. What MPI still has of a lost peer's transfers is waited for [`ending::LINGER`] long; then their operations end without
//!    their memory, which MPI may touch for ever.

mod ending;
mod hearing;
mod sending;

use super::Place;
use super::callers::Ticket;
use super::endpoint::{Endpoint, Event, Letter, SENDS};
use super::flow::Flow;
use super::poster::Poster;
use super::server::{Ends, Server};
use super::wire::{Control, Tags};
use crate::emulated::wire::OperationId;
use crate::error::LrtsError;
use crate::fabric::lifelines::Lifelines;
use crate::fabric::parting::Parting;
use crate::fabric::pool::{Arrival, Pool};
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::Completion;
use crate::path_use::PathUse;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

/// What concerns the runtime.
pub(super) enum News {
    Frame { source: NodeId, channel: Channel, message: Arrival },
    Completion(Completion),
    Closed(NodeId),
    Lost(LrtsError),
}

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

struct Peer {
    place: Place,
    parting: Parting,
    /// Own messages that found no buffer.
    waiting: VecDeque<Control>,
    server: Server,
    /// Frames sent to it.
    sent: PathUse,
    /// Whether it is in the list of the restless.
    listed: bool,
}

/// See the module.
pub(super) struct Exchange {
    node: NodeId,
    endpoint: Endpoint,
    incoming: Arc<Pool>,
    lifelines: Lifelines,
    /// By node; `None` for this one.
    peers: Vec<Option<Peer>>,
    poster: Poster,
    tags: Tags,
    flows: Vec<Running>,
    /// By buffer of the sending pool: to whom.
    sends: Vec<NodeId>,
    /// Written, by somebody who may not call MPI.
    letters: VecDeque<Letter>,
    /// Read, and to be posted again.
    read: Vec<Arrival>,
    /// Peers with something to send or claim.
    restless: Vec<NodeId>,
    lingering: Option<Instant>,
    events: Vec<Event>,
    news: Vec<News>,
}

/// What an exchange is made of.
pub(super) struct Parts {
    pub(super) node: NodeId,
    pub(super) endpoint: Endpoint,
    pub(super) lifelines: Lifelines,
    /// By node; `None` for this one.
    pub(super) peers: Vec<Option<(Place, Server)>>,
}

impl Exchange {
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { node, endpoint, lifelines, peers } = parts;
        let peer = |(place, server)| Peer {
            place,
            parting: Parting::new(),
            waiting: VecDeque::new(),
            server,
            sent: PathUse::default(),
            listed: false,
        };
        Self {
            node,
            incoming: Arc::clone(endpoint.incoming()),
            lifelines,
            poster: Poster::new(),
            tags: Tags::new(),
            flows: Vec::new(),
            sends: vec![node; SENDS],
            letters: VecDeque::new(),
            read: Vec::new(),
            restless: Vec::new(),
            lingering: None,
            events: Vec::new(),
            news: Vec::new(),
            endpoint,
            peers: peers.into_iter().map(|one| one.map(peer)).collect(),
        }
    }

    pub(super) fn incoming(&self) -> &Arc<Pool> {
        &self.incoming
    }

    pub(super) fn lifelines(&self) -> &Lifelines {
        &self.lifelines
    }

    fn peer(&mut self, node: NodeId) -> Option<&mut Peer> {
        self.peers.get_mut(node.index()).and_then(Option::as_mut)
    }

    /// Frames that a peer was sent.
    pub(super) fn sent(&self, peer: NodeId) -> PathUse {
        self.peers[peer.index()].as_ref().map_or_else(PathUse::default, |peer| peer.sent)
    }

    /// Takes what there is to tell.
    pub(super) fn take_news(&mut self, news: &mut Vec<News>) {
        news.append(&mut self.news);
    }

    /// Takes back messages that were read.
    pub(super) fn give_back(&mut self, read: &mut Vec<Arrival>) {
        self.read.append(read);
    }

    /// Lets everything go on that can. Returns whether anything did.
    pub(super) fn advance(&mut self, closing: bool, look_at_lifelines: bool, ticket: Ticket) -> bool {
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
        if look_at_lifelines {
            happened |= self.check_lifelines(ticket);
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
        if self.lingering.is_some_and(|since| since.elapsed() > ending::LINGER) {
            self.give_up_lingering();
            happened = true;
        }
        happened
    }

    /// A flow is over.
    fn finish(&mut self, running: Running) {
        let Running { peer, purpose, flow } = running;
        let is_lost = self.peer(peer).is_none_or(|peer| peer.parting.is_lost());
        let Self { poster, tags, .. } = self;
        match purpose {
            Purpose::Posted(id) => {
                let ended = if is_lost { poster.lose(id, flow, tags) } else { poster.moved(id, flow, tags) };
                self.news.extend(ended.map(News::Completion));
            }
            Purpose::Served(id) => {
                let told =
                    self.peers[peer.index()].as_mut().and_then(|peer| peer.server.moved(id, flow, tags));
                if let Some(control) = told {
                    self.tell(peer, control);
                }
            }
        }
    }

    fn push_out(&mut self, closing: bool, ticket: Ticket) -> bool {
        let mut happened = false;
        for node in std::mem::take(&mut self.restless) {
            let Self { endpoint, peers, tags, .. } = self;
            let Some(peer) = peers.get_mut(node.index()).and_then(Option::as_mut) else { continue };
            peer.listed = false;
            let ends = Ends { own: endpoint.own(), peer: &peer.place };
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
    pub(super) fn is_restless(&self) -> bool {
        !self.news.is_empty()
            || !self.letters.is_empty()
            || !self.read.is_empty()
            || !self.restless.is_empty()
    }
}
