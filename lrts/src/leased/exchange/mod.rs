//! Exchange: all that one node has with its peers, which are messages in their order, leases, operations, beginnings and ends.
//! Never calls the runtime.
//!
//! It lives behind one lock and never calls out: what concerns the runtime is put into a list of [`Notification`].
//!
//! 1. Messages between two nodes are numbered, and taken in that [`Order`].
//! 2. Own messages (`Control`) wait in a queue per peer for room and go before the frames that were sent after them.
//! 3. Nodes part as [`Goodbyes`](crate::fabric::goodbye::Goodbyes) says.
//! 4. Whatever fails on the way to a peer, and whatever no correct peer sends, makes it lost, once.
//! 5. What the network still holds of a lost peer's operations is waited for [`LINGER`] long; then the endpoint is closed,
//!    because nothing else proves that it will not touch their memory. All peers are lost then.
//! 6. A message that fails to arrive, and of which the network does not say whose it is, mostly is one of a process that has ended, which
//!    is told otherwise. If no peer is lost [`LINGER`] long, those are whose later messages wait for an earlier one; if none do, whoever may
//!    still have sent one.

mod ending;
mod hearing;
mod order;
mod sending;
#[cfg(test)]
mod tests;

use super::endpoint::{Endpoint, Event, SENDS};
use super::poster::{Poster, Progress};
use super::registrations::{RegionName, Registrations};
use super::server::{Network, Server};
use super::wire::Control;
use crate::ambient::clock;
use crate::error::LrtsError;
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::path_use::PathUse;
use crate::tcp::keepalive::Keepalives;
use order::Order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the network may keep pieces of a lost peer's operations, and a lost message may wait for the loss of its sender. Connections
/// report their end within milliseconds.
const LINGER: Duration = Duration::from_secs(2);

pub(super) type Notification = crate::notification::Notification<Message>;

type Peers = crate::fabric::peers::Peers<Control, Server, Way>;

/// A message that came in, its header included.
pub(super) enum Message {
    /// Still in its buffer, which must be given back.
    Arrived(Arrival),
    /// Copied, because it came early.
    Kept(Vec<u8>),
}

impl Message {
    pub(super) fn bytes<'a>(&'a self, incoming: &'a Pool) -> &'a [u8] {
        match self {
            Self::Arrived(arrival) => incoming.bytes(arrival),
            Self::Kept(bytes) => bytes,
        }
    }
}

/// How messages reach a peer, and come from it in their order.
struct Way {
    /// The number that its messages must carry to be heard.
    door: u64,
    next_out: u32,
    order: Order,
    /// Its hello arrived; ours has left.
    greeted: [bool; 2],
}

/// All that one node has with its peers, behind one lock.
pub(super) struct Exchange {
    node: NodeId,
    backend: &'static str,
    door: u64,
    endpoint: Box<dyn Endpoint>,
    incoming: Arc<Pool>,
    registrations: Registrations,
    keepalives: Keepalives,
    peers: Peers,
    poster: Poster,
    /// By buffer of the sending pool: to whom, and whether it is a hello.
    sends: Vec<(NodeId, bool)>,
    /// Buffers that the network did not take back yet.
    unposted: Vec<Arrival>,
    lingering: Option<Instant>,
    /// A message failed to arrive, since when and why, and no loss explains it yet.
    missing: Option<(Instant, String)>,
    /// The loss of a peer was told, and with it the end of the job.
    has_lost: bool,
    /// A frame found no room, and nothing has happened since.
    stalled: bool,
    events: Vec<Event>,
    notifications: Vec<Notification>,
}

/// Parts of an exchange.
pub(super) struct Parts {
    pub(super) node: NodeId,
    pub(super) backend: &'static str,
    pub(super) door: u64,
    pub(super) endpoint: Box<dyn Endpoint>,
    pub(super) registrations: Registrations,
    pub(super) keepalives: Keepalives,
    /// Doors and leases, by node; `None` for this one.
    pub(super) peers: Vec<Option<(u64, Server)>>,
}

impl Exchange {
    /// Begins by greeting the peers that come after this node, unless the network connects on demand.
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { node, backend, door, endpoint, registrations, keepalives, peers } = parts;
        let greets = !endpoint.connects_on_demand();
        let way = |door| Way { door, next_out: 0, order: Order::default(), greeted: [!greets; 2] };
        let peer = |(door, server)| (way(door), server);
        let mut peers = Peers::new(peers.into_iter().map(|one| one.map(peer)).collect());
        if greets {
            // The others answer: of two connections that are made at once, `ofi_rxm` refuses one and starts over.
            peers.nodes().filter(|peer| node < *peer).for_each(|peer| peers.tell(peer, Control::Hello));
        }
        Self {
            node,
            backend,
            door,
            incoming: Arc::clone(endpoint.incoming()),
            registrations,
            keepalives,
            poster: Poster::new(endpoint.transfer_bytes_max()),
            sends: vec![(node, false); SENDS],
            unposted: Vec::new(),
            lingering: None,
            missing: None,
            has_lost: false,
            stalled: false,
            events: Vec::new(),
            notifications: Vec::new(),
            endpoint,
            peers,
        }
    }

    /// The parts that a sleeper waits on.
    pub(super) fn parts(&self) -> (&Keepalives, &dyn Endpoint) {
        (&self.keepalives, &*self.endpoint)
    }

    /// Whether the network lets a thread sleep now.
    pub(super) fn may_sleep(&mut self) -> bool {
        self.endpoint.descriptor().is_none() || self.endpoint.may_sleep()
    }

    /// The first peer with which hellos were not exchanged.
    pub(super) fn ungreeted(&self) -> Option<NodeId> {
        let is_greeted = |node| self.peers.get(node).is_none_or(|peer| peer.way.greeted == [true; 2]);
        self.peers.nodes().find(|node| !is_greeted(*node))
    }

    /// Frames that a peer was sent.
    pub(super) fn sent(&self, peer: NodeId) -> PathUse {
        self.peers.get(peer).map(|peer| peer.sent).unwrap_or_default()
    }

    /// Takes the notifications.
    pub(super) fn take_notifications(&mut self, notifications: &mut Vec<Notification>) {
        notifications.append(&mut self.notifications);
    }

    /// Copies the frames that nobody takes yet, so that they leave buffers to the hellos that are still to come: peers
    /// that have heard everybody begin at once.
    pub(super) fn keep_frames(&mut self) {
        let mut notifications = std::mem::take(&mut self.notifications);
        for one in &mut notifications {
            if let Notification::Frame { message, .. } = one
                && let Message::Arrived(arrival) = message
            {
                let bytes = self.incoming.bytes(arrival).to_vec();
                self.dispose(std::mem::replace(message, Message::Kept(bytes)));
            }
        }
        self.notifications = notifications;
    }

    /// The loss of a peer, if there is one to tell.
    pub(super) fn take_loss(&mut self) -> Option<LrtsError> {
        let at = self.notifications.iter().position(|one| matches!(one, Notification::Lost(_)))?;
        match self.notifications.swap_remove(at) {
            Notification::Lost(error) => Some(error),
            _ => unreachable!("just looked at"),
        }
    }

    /// Lets everything go on that can; `thoroughly`: also looks for what is rare. Returns whether anything happened.
    pub(super) fn advance(&mut self, closing: bool, thoroughly: bool) -> bool {
        let mut events = std::mem::take(&mut self.events);
        self.endpoint.poll(&mut events, thoroughly);
        let mut happened = !events.is_empty();
        self.stalled &= !happened;
        for event in events.drain(..) {
            self.take(event);
        }
        self.events = events;
        if thoroughly {
            happened |= self.check_keepalives();
        }
        if closing {
            self.say_goodbyes();
        }
        happened |= self.push_out(closing);
        for arrival in std::mem::take(&mut self.unposted) {
            self.give_back(arrival);
        }
        happened
    }

    fn push_out(&mut self, closing: bool) -> bool {
        let mut happened = false;
        for node in self.peers.take_needing_progress() {
            let Self { endpoint, registrations, peers, .. } = self;
            let Some(peer) = peers.get_mut(node) else { continue };
            let mut network = Network { endpoint: &mut **endpoint, registrations };
            happened |= peer.server.retry(closing, &mut network, &mut peer.waiting);
            happened |= self.flush(node);
        }
        if self.poster.has_ready() {
            let mut over = Vec::new();
            let progress = self.poster.push_out(&mut *self.endpoint, &mut over);
            happened |= !matches!(progress, Progress::Idle) || !over.is_empty();
            self.finish(over);
            if let Progress::Broken(node, cause) = progress {
                self.lose(node, cause);
            }
        }
        if let Some((_, cause)) = self.missing.take_if(|(since, _)| clock::since(*since) > LINGER) {
            self.lose_sender(&cause);
            happened = true;
        }
        if self.lingering.is_some_and(|since| clock::since(since) > LINGER) {
            self.lingering = None;
            if self.poster.has_doomed() {
                self.shut("operations at a lost peer did not end, so that the endpoint was closed");
                happened = true;
            }
        }
        happened
    }

    /// A region's memory is about to go back to its owner.
    pub(super) fn region_ended(&mut self, region: RegionName) {
        self.registrations.forget(&mut *self.endpoint, region);
    }

    /// Whether peers hold leases here while no descriptor tells of what the network does: some networks move bytes only when the target
    /// looks, too.
    pub(super) fn serves_unseen(&self) -> bool {
        let serves = |node| {
            self.peers.get(node).is_some_and(|peer| !peer.goodbyes.is_lost() && peer.server.has_granted())
        };
        self.endpoint.descriptor().is_none() && self.peers.nodes().any(serves)
    }

    /// Whether something can go on that no descriptor will announce.
    pub(super) fn needs_progress(&self) -> bool {
        !self.notifications.is_empty()
            || self.peers.any_needs_progress()
            || !self.unposted.is_empty()
            || self.poster.has_ready()
    }
}
