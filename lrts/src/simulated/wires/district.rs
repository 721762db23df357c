//! District of a simulated network: what is known of the nodes that one thread drives, what is on its way to them, and what waits there.

use crate::ambient::caller::Caller;
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::simulated::corruption::Corruption;
use crate::simulated::direct::{Answer, Request};
use crate::simulated::goodbyes::Quiet;
use crate::simulated::model::Traffic;
use crate::simulated::moments::Moments;
use crate::simulated::one_sided::{Interface, Posting, Step};
use crate::simulated::weather::{Bursts, Weather};
use crate::tcp::keepalive::Sign;
use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What travels.
pub(in crate::simulated) enum Load {
    Frame(Channel, Vec<u8>),
    Goodbye,
    /// The sender was lost.
    Loss,
    /// A message of an endpoint.
    Message(Vec<u8>),
    /// The message in this slot has left, which comes from the node itself.
    Sent(usize),
    /// A step of an access, which no PE has a part in.
    Step(Posting, Step),
    /// The access in this slot is over.
    Moved(usize, Result<(), String>),
    /// A sign of the sender's life.
    Sign(Sign),
    /// A get or put that its target carries out when it is there.
    Request(Request),
    /// The answer to one.
    Answered(u64, Answer),
    /// The sender was lost after its goodbye: what is open at it has ended.
    Left,
    /// The front of what an interface takes by itself: the rest comes while it does.
    Front(Box<Load>),
}

/// Moment of arrival, sender, and how many the sender had sent before: which of two arrives first.
pub(super) type Key = (u64, NodeId, u64);

/// What keeps its order: frames of one caller on the runtime's channel, all others, or signs of life.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Order {
    Caller(Caller),
    Node,
    Signs,
}

/// What keeps its order between a sender and a target.
pub(super) type Lane = (NodeId, NodeId, Order);

/// What is known of the way from one node to another.
#[derive(Default)]
pub(super) struct Way {
    /// Frames on their way, and those that wait to be taken.
    pub(super) frames: usize,
    /// Whether the sender is to be told of room.
    pub(super) is_refused: bool,
    /// When the last of all that was sent arrives.
    pub(super) last: u64,
}

#[derive(Default)]
pub(super) struct Node {
    pub(super) is_lost: bool,
    /// Whether it has said goodbye, to all peers at once.
    pub(super) has_left: bool,
    /// Those to which it has sent frames, and those of which some have arrived.
    pub(super) met: BTreeSet<NodeId>,
    pub(super) sent: u64,
    pub(super) on_their_way: BTreeMap<Key, Load>,
    pub(super) arrived: VecDeque<(NodeId, Load)>,
    /// Signs of peers' lives that have arrived.
    pub(super) signs: Vec<(NodeId, Sign)>,
    /// Of the endpoint there, if there is one.
    pub(super) interface: Option<Box<Interface>>,
    /// Its memory, if others reach it directly.
    pub(super) regions: Option<Arc<Regions>>,
}

/// What is known of the nodes that one thread drives, and of what they have sent.
pub(super) struct District {
    /// When the first frame arrives at each of these nodes.
    pub(super) first: Moments,
    /// Goodbyes on their way to all nodes that do not hear them by themselves, as those do that are told with each.
    pub(super) goodbyes: BTreeMap<Key, Vec<NodeId>>,
    /// The earliest arrival at other districts of what was sent since somebody asked.
    pub(super) sent_away: Option<u64>,
    /// By number, those of others too, of which nothing is known here.
    pub(super) nodes: Vec<Node>,
    pub(super) ways: FxHashMap<(NodeId, NodeId), Way>,
    /// When the last frame of a lane arrives.
    pub(super) lanes: FxHashMap<Lane, u64>,
    /// Those that are to look at their network: senders for which there is room again, and all when the last has said goodbye.
    pub(super) roomy: Vec<NodeId>,
    /// Senders that met a burst, and when it ends.
    pub(super) held_up: Vec<(u64, NodeId)>,
    pub(super) bursts: Bursts,
    pub(super) quiet: Quiet,
    pub(super) corruption: Option<Corruption>,
    /// The frame that has changed, once there is one.
    pub(super) changed: Option<Key>,
    /// Whether all frames of one node to another keep their order.
    pub(super) keeps_order: bool,
    pub(super) dice: ChaCha8Rng,
    /// If a model describes the network.
    pub(super) traffic: Option<Traffic>,
}

impl District {
    /// One of a job of so many nodes, where nothing happens by chance.
    pub(super) fn new(nodes: u32, traffic: Option<Traffic>) -> Self {
        Self {
            first: Moments::of(nodes as usize),
            goodbyes: BTreeMap::new(),
            sent_away: None,
            nodes: (0..nodes).map(|_| Node::default()).collect(),
            ways: FxHashMap::default(),
            lanes: FxHashMap::default(),
            roomy: Vec::new(),
            held_up: Vec::new(),
            bursts: Bursts::none(),
            quiet: Quiet::new(nodes),
            corruption: None,
            changed: None,
            keeps_order: false,
            dice: ChaCha8Rng::seed_from_u64(0),
            traffic,
        }
    }

    /// Whether one of them was lost.
    pub(super) fn are_apart(&self, one: NodeId, other: NodeId) -> bool {
        [one, other].iter().any(|node| self.nodes[node.index()].is_lost)
    }

    /// Has all nodes look at their network.
    pub(super) fn look_all(&mut self) {
        self.roomy.extend((0..self.nodes.len() as u32).map(NodeId));
    }

    /// When the next frame arrives at a node.
    pub(super) fn next_at(&self, node: NodeId) -> Option<u64> {
        self.nodes[node.index()].on_their_way.first_key_value().map(|((moment, ..), _)| *moment)
    }

    /// Changes what is on its way to a node.
    pub(super) fn change<R>(
        &mut self,
        node: NodeId,
        change: impl FnOnce(&mut BTreeMap<Key, Load>) -> R,
    ) -> R {
        let result = change(&mut self.nodes[node.index()].on_their_way);
        self.first.set(node.index(), self.next_at(node));
        result
    }

    pub(super) fn put(&mut self, key: Key, target: NodeId, load: Load) {
        self.change(target, |on_their_way| _ = on_their_way.insert(key, load));
    }

    pub(super) fn take_first(&mut self, target: NodeId) -> Option<(Key, Load)> {
        self.change(target, BTreeMap::pop_first)
    }

    /// Drops what is on its way to a node but for what `keeps` has stay; returns the rest.
    pub(super) fn keep(&mut self, target: NodeId, keeps: impl Fn(&Key) -> bool) -> Vec<Load> {
        let vanishes = |on_their_way: &mut BTreeMap<Key, Load>| {
            on_their_way.extract_if(.., |key, _| !keeps(key)).map(|(_, load)| load).collect()
        };
        self.change(target, vanishes)
    }

    /// Whether there is a burst on a way; its sender is told of the end.
    pub(super) fn is_held_up(&mut self, way: (NodeId, NodeId), now: u64) -> bool {
        let until = self.bursts.until(way, now);
        self.held_up.extend(until.map(|until| (until, way.0)));
        until.is_some()
    }

    /// When something without bytes arrives that costs nobody's time.
    pub(super) fn delay_of_nothing(&mut self, now: u64, way: (NodeId, NodeId), weather: &Weather) -> u64 {
        match &self.traffic {
            Some(traffic) => traffic.arrival_of_goodbye(now, way.0, way.1),
            None => now + weather.delay_ns(0, &mut self.dice),
        }
    }

    /// Notes that something arrives in another district.
    pub(super) fn note_away(&mut self, moment: u64) {
        self.sent_away = Some(self.sent_away.map_or(moment, |first| first.min(moment)));
    }

    /// The key of what a node sends now.
    pub(super) fn key(&mut self, moment: u64, source: NodeId) -> Key {
        let node = &mut self.nodes[source.index()];
        node.sent += 1;
        (moment, source, node.sent)
    }
}

impl Load {
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match self {
            Self::Frame(channel, bytes) => {
                hasher.write_u8(*channel as u8);
                hasher.write(bytes);
            }
            Self::Goodbye => hasher.write_u8(u8::MAX),
            Self::Loss => hasher.write_u8(u8::MAX - 1),
            Self::Left => hasher.write_u8(u8::MAX - 2),
            Self::Message(bytes) => (b'm', bytes).hash(&mut hasher),
            Self::Sent(slot) => (b's', slot).hash(&mut hasher),
            Self::Step(posting, step) => (b'a', posting, step).hash(&mut hasher),
            Self::Moved(slot, result) => (b'o', slot, result).hash(&mut hasher),
            Self::Request(request) => (b'r', request).hash(&mut hasher),
            Self::Answered(id, answer) => {
                let error = answer.as_ref().err().map(ToString::to_string);
                (b'w', id, answer.as_deref().ok(), error).hash(&mut hasher);
            }
            Self::Sign(sign) => (b'l', format!("{sign:?}")).hash(&mut hasher),
            Self::Front(load) => (b'f', load.hash()).hash(&mut hasher),
        }
        hasher.finish()
    }

    /// Bytes of memory that travel with it.
    pub(super) fn memory_bytes(&self) -> usize {
        match self {
            Self::Step(_, Step::Reaches(bytes) | Step::Returns(Ok(bytes))) => bytes.len(),
            Self::Request(request) => request.carried_bytes(),
            Self::Answered(_, Ok(bytes)) => bytes.len(),
            _ => 0,
        }
    }

    /// What came, or will, behind its front.
    pub(super) fn whole(self) -> Self {
        match self {
            Self::Front(load) => load.whole(),
            load => load,
        }
    }
}
