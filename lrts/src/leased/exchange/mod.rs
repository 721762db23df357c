//! Leased exchange: messages in their order, leases and the operations under them, by the rules of every
//! [`Exchange`].
//!
//! 1. Messages between two nodes are numbered, and taken in that [`Order`].
//! 2. What the network still holds of a lost peer's operations is waited for [`LINGER`] long; then the endpoint is closed,
//!    because nothing else proves that it will not touch their memory. All peers are lost then.
//! 3. A message that fails to arrive, and of which the network does not say whose it is, mostly is one of a process that has ended, which
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
use crate::fabric::exchange::{Content, Exchange, Peering, PeeringOf, Refusal, Way};
use crate::fabric::pool::{Arrival, Pool};
use crate::ids::NodeId;
use crate::tcp::keepalive::standalone::Signs;
use order::Order;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the network may keep pieces of a lost peer's operations, and a lost message may wait for the loss of its sender. Connections
/// report their end within milliseconds.
const LINGER: Duration = Duration::from_secs(2);

pub(super) type Notification = crate::notification::Notification<Message>;

type Peers = crate::fabric::peers::Peers<Control, Server, OrderedWay>;

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
pub(in crate::leased) struct OrderedWay {
    /// The number that its messages must carry to be heard.
    door: u64,
    next_out: u32,
    order: Order,
    /// Its hello arrived; ours has left.
    greeted: [bool; 2],
}

impl Way for OrderedWay {
    fn said_nothing(&self) -> bool {
        self.next_out == 0
    }

    fn heard_nothing(&self) -> bool {
        self.order.is_new()
    }
}

/// All that one node has with its peers, behind one lock.
pub(super) struct LeasedExchange {
    peering: PeeringOf<Self>,
    door: u64,
    endpoint: Box<dyn Endpoint>,
    incoming: Arc<Pool>,
    registrations: Registrations,
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
}

/// Parts of an exchange.
pub(super) struct Parts {
    pub(super) node: NodeId,
    pub(super) backend: &'static str,
    pub(super) door: u64,
    pub(super) endpoint: Box<dyn Endpoint>,
    pub(super) registrations: Registrations,
    pub(super) signs: Box<dyn Signs>,
    /// Doors and leases, by node; `None` for this one.
    pub(super) peers: Vec<Option<(u64, Server)>>,
}

impl LeasedExchange {
    /// Begins by greeting the peers that come after this node, unless the network connects on demand.
    pub(super) fn new(parts: Parts) -> Self {
        let Parts { node, backend, door, endpoint, registrations, signs, peers } = parts;
        let greets = !endpoint.connects_on_demand();
        let way = |door| OrderedWay { door, next_out: 0, order: Order::default(), greeted: [!greets; 2] };
        let peer = |(door, server)| (way(door), server);
        let mut peers = Peers::new(peers.into_iter().map(|one| one.map(peer)).collect());
        if greets {
            // The others answer: of two connections that are made at once, `ofi_rxm` refuses one and starts over.
            peers.nodes().filter(|peer| node < *peer).for_each(|peer| peers.tell(peer, Control::Hello));
        }
        Self {
            peering: Peering { node, backend, signs, peers, notifications: Vec::new(), untold: Vec::new() },
            door,
            incoming: Arc::clone(endpoint.incoming()),
            registrations,
            poster: Poster::new(endpoint.transfer_bytes_max()),
            sends: vec![(node, false); SENDS],
            unposted: Vec::new(),
            lingering: None,
            missing: None,
            has_lost: false,
            stalled: false,
            events: Vec::new(),
            endpoint,
        }
    }

    /// What it drives.
    pub(super) fn endpoint(&self) -> &dyn Endpoint {
        &*self.endpoint
    }

    /// Whether the network lets a thread sleep now.
    pub(super) fn may_sleep(&mut self) -> bool {
        self.endpoint.may_sleep()
    }

    /// The first peer with which hellos were not exchanged.
    pub(super) fn ungreeted(&self) -> Option<NodeId> {
        let peers = &self.peering.peers;
        let is_greeted = |node| peers.get(node).is_none_or(|peer| peer.way.greeted == [true; 2]);
        peers.nodes().find(|node| !is_greeted(*node))
    }

    /// Copies the frames that nobody takes yet, so that they leave buffers to the hellos that are still to come: peers
    /// that have heard everybody begin at once.
    pub(super) fn keep_frames(&mut self) {
        let mut notifications = std::mem::take(&mut self.peering.notifications);
        for one in &mut notifications {
            if let Notification::Frame { message, .. } = one
                && let Message::Arrived(arrival) = message
            {
                let bytes = self.incoming.bytes(arrival).to_vec();
                self.dispose(std::mem::replace(message, Message::Kept(bytes)));
            }
        }
        self.peering.notifications = notifications;
    }

    /// The loss of a peer, if there is one to tell.
    pub(super) fn take_loss(&mut self) -> Option<LrtsError> {
        let notifications = &mut self.peering.notifications;
        let at = notifications.iter().position(|one| matches!(one, Notification::Lost(_)))?;
        let notification = notifications.swap_remove(at);
        self.peering.have_told(notification.lost_peer().as_slice());
        match notification {
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
            happened |= self.check_signs(());
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
        let mut happened = self.push_out_to_peers(closing, ());
        if self.poster.has_ready() {
            let mut over = Vec::new();
            let progress = self.poster.push_out(&mut *self.endpoint, &mut over);
            happened |= !matches!(progress, Progress::Idle) || !over.is_empty();
            self.finish(over);
            if let Progress::Broken(node, cause) = progress {
                self.lose(node, cause, ());
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
            let peer = self.peering.peers.get(node);
            peer.is_some_and(|peer| !peer.goodbyes.is_lost() && peer.server.has_granted())
        };
        self.endpoint.descriptor().is_none() && self.peering.peers.nodes().any(serves)
    }

    /// Whether something can go on that no descriptor will announce.
    pub(super) fn needs_progress(&self) -> bool {
        !self.peering.notifications.is_empty()
            || self.peering.peers.any_needs_progress()
            || !self.unposted.is_empty()
            || self.poster.has_ready()
    }
}

impl Exchange for LeasedExchange {
    type Control = Control;
    type Server = Server;
    type Way = OrderedWay;
    type Message = Message;
    type Caller = ();

    fn peering(&self) -> &PeeringOf<Self> {
        &self.peering
    }

    fn peering_mut(&mut self) -> &mut PeeringOf<Self> {
        &mut self.peering
    }

    fn count(&self, node: NodeId) -> usize {
        self.poster.count(node)
    }

    fn post(&mut self, target: NodeId, content: Content<'_, Control>, (): ()) -> Result<(), Refusal> {
        self.post_in_order(target, content)
    }

    fn obey(&mut self, source: NodeId, control: Control) -> Result<(), String> {
        self.obey_lease(source, control)
    }

    fn retry(&mut self, node: NodeId, closing: bool) -> bool {
        let Self { endpoint, registrations, peering, .. } = self;
        let Some(peer) = peering.peers.get_mut(node) else { return false };
        let mut network = Network { endpoint: &mut **endpoint, registrations };
        peer.server.retry(closing, &mut network, &mut peer.waiting)
    }

    fn conclude(&mut self, node: NodeId) {
        let Self { endpoint, registrations, peering, .. } = self;
        if let Some(peer) = peering.peers.get_mut(node) {
            peer.server.release_all(&mut Network { endpoint: &mut **endpoint, registrations });
        }
        self.abandon_operations(node);
    }

    fn abandon(&mut self, node: NodeId, is_news: bool, (): ()) {
        if let Some(peer) = self.peering.peers.get_mut(node) {
            peer.server.freeze();
            peer.way.order.clear();
        }
        if is_news {
            (self.has_lost, self.missing) = (true, None);
        }
        self.abandon_operations(node);
        if self.poster.has_doomed() {
            self.lingering.get_or_insert_with(clock::now);
        }
    }
}
