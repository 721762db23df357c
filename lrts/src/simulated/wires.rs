//! Wires of a simulated network: the frames on their way between its nodes, and those that have arrived and wait to be taken.
//! `simulated/end -> **simulated/wires** -> simulated/end`
//!
//! 1. Order is kept where [`Lrts`](crate::Lrts) promises it, and nowhere else: among frames of the runtime that one caller sends to one node,
//!    and among all frames of one node to another on [`Channel::Emulated`]. All others overtake each other as their delays have it,
//!    unless they have tags.
//! 2. A goodbye arrives behind all that its node has sent to that peer; at many that it has nothing to do with, [at once](Quiet).
//! 3. Frames arrive by moment; those of one moment by the number of their node, and those of one node as they were sent.
//! 4. A frame takes as long as the weather has it, or the model of the network, if there is one; then sending and receiving take time, too.
//! 5. There is room for a bounded number of frames between two nodes, until they are taken. A sender that found none is told when there is.
//! 6. In a [burst](Bursts) there is none for a while, and the sender is told of its end.
//! 7. Of what a node has sent that is [lost](Wires::lose) each peer gets what arrives before some moment, and is told then; one to which the node
//!    had said goodbye gets all and is told nothing. What is sent to the node vanishes.
//! 8. One frame may [change](Corruption) on its way.
//! 9. Nodes are dealt out to districts, each of which one thread drives: in a job that several drive, whose network a model describes. What is
//!    sent to another district arrives there no earlier than the [least latency](Network::least_latency_ns) after it was sent.

use super::bursts::Bursts;
use super::chance::{Chance, Chances};
use super::corruption::Corruption;
use super::goodbyes::Quiet;
use super::model::{Network, Traffic};
use crate::ambient::caller::Caller;
use crate::ambient::{clock, driven};
use crate::bootstrap::JobKey;
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::NoRoom;
use parking_lot::{Mutex, MutexGuard};
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

/// The stream of the seed's dice that the wires draw from; those of nodes are numbered from 0.
const STREAM: u64 = u64::MAX;

/// The stream that the key of tags is drawn from.
const KEY_STREAM: u64 = u64::MAX - 6;

/// One frame in so many is late.
const LATE_ONE_IN: u64 = 64;

/// What travels.
pub(super) enum Load {
    Frame(Channel, Vec<u8>),
    Goodbye,
    /// The sender was lost.
    Loss,
}

/// Moment of arrival, sender, and how many the sender had sent before: which of two arrives first.
type Key = (u64, NodeId, u64);

/// Frames that keep their order: sender, target, and on the runtime's channel the caller.
type Lane = (NodeId, NodeId, Option<Caller>);

/// What is known of the way from one node to another.
#[derive(Default)]
struct Way {
    /// Frames on their way, and those that wait to be taken.
    frames: usize,
    /// Whether the sender is to be told of room.
    is_refused: bool,
    /// When the last of all that was sent arrives.
    last: u64,
}

#[derive(Default)]
struct Node {
    is_lost: bool,
    /// Whether it has said goodbye, to all peers at once.
    has_left: bool,
    /// Those to which it has sent frames, and those of which some have arrived.
    met: BTreeSet<NodeId>,
    sent: u64,
    on_their_way: BTreeMap<Key, Load>,
    arrived: VecDeque<(NodeId, Load)>,
}

/// What is known of the nodes that one thread drives, and of what they have sent.
struct District {
    /// When the first frame arrives, for each of these nodes to which any is on its way.
    first: BTreeSet<(u64, NodeId)>,
    /// Goodbyes on their way to all nodes that do not hear them by themselves, as those do that are told with each.
    goodbyes: BTreeMap<Key, Vec<NodeId>>,
    /// The earliest arrival at other districts of what was sent since somebody asked.
    sent_away: Option<u64>,
    /// By number, those of others too, of which nothing is known here.
    nodes: Vec<Node>,
    ways: FxHashMap<(NodeId, NodeId), Way>,
    /// When the last frame of a lane arrives.
    lanes: FxHashMap<Lane, u64>,
    /// Those that are to look at their network: senders for which there is room again, and all when the last has said goodbye.
    roomy: Vec<NodeId>,
    /// Senders that met a burst, and when it ends.
    held_up: Vec<(u64, NodeId)>,
    bursts: Bursts,
    quiet: Quiet,
    corruption: Option<Corruption>,
    /// The frame that has changed, once there is one.
    changed: Option<Key>,
    /// Whether all frames of one node to another keep their order.
    keeps_order: bool,
    dice: ChaCha8Rng,
    /// If a model describes the network.
    traffic: Option<Traffic>,
}

/// The wires between the nodes of one simulated job.
pub struct Wires {
    seed: u64,
    weather: Weather,
    districts: Vec<Mutex<District>>,
    /// How many nodes each district has, but for the last.
    nodes_each: u32,
}

/// One arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When, in nanoseconds.
    pub moment: u64,
    /// Who sent it.
    pub source: NodeId,
    /// Where it waits to be taken now.
    pub target: NodeId,
    /// Of its channel and its bytes.
    pub hash: u64,
    /// Whether it has changed on its way.
    pub is_changed: bool,
}

impl Wires {
    /// The wires between so many nodes, under the weather of this seed.
    pub fn new(nodes: u32, seed: u64) -> Arc<Self> {
        Self::under(nodes, seed, Chance::USUAL.into_iter().collect(), 0)
    }

    /// The same, where these parts alone are left to chance. There are no bursts from `calm_from` on, in nanoseconds.
    pub fn under(nodes: u32, seed: u64, chances: Chances, calm_from: u64) -> Arc<Self> {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        dice.set_stream(STREAM);
        let weather = Weather::draw(&mut dice).under(chances);
        let mut district = District { dice, ..District::new(nodes, None) };
        if chances.has(Chance::Bursts) {
            district.bursts = Bursts::draw(seed, calm_from);
        }
        district.corruption = Corruption::draw(seed).filter(|_| chances.has(Chance::Corruption));
        Arc::new(Self { seed, weather, districts: vec![Mutex::new(district)], nodes_each: nodes.max(1) })
    }

    /// Those of the network that a model describes, where nothing is left to chance, between the nodes of so many districts or fewer.
    ///
    /// # Panics
    /// If there are no nodes or no districts.
    pub fn modelled(nodes: u32, seed: u64, network: Network, districts: u32) -> Arc<Self> {
        let weather = Weather::NONE;
        let nodes_each = nodes.div_ceil(districts);
        let district = || Mutex::new(District::new(nodes, Some(Traffic::new(network, nodes))));
        let districts = (0..nodes.div_ceil(nodes_each)).map(|_| district()).collect();
        Arc::new(Self { seed, weather, districts, nodes_each })
    }

    /// How many districts there are.
    pub fn districts(&self) -> u32 {
        self.districts.len() as u32
    }

    /// The nodes of a district.
    pub fn nodes_of(&self, district: u32) -> Range<u32> {
        let nodes = self.districts[0].lock().nodes.len() as u32;
        let first = district * self.nodes_each;
        first..nodes.min(first + self.nodes_each)
    }

    fn district_of(&self, node: NodeId) -> usize {
        (node.0 / self.nodes_each) as usize
    }

    fn of(&self, node: NodeId) -> MutexGuard<'_, District> {
        self.districts[self.district_of(node)].lock()
    }

    /// The job's key for tags, the same for each node. From now on all frames of one node to another keep their order, as tags need it.
    pub(crate) fn key_of_tags(&self) -> JobKey {
        self.districts.iter().for_each(|district| district.lock().keeps_order = true);
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(KEY_STREAM);
        JobKey(dice.random())
    }

    /// Whether a model describes the network.
    pub fn are_modelled(&self) -> bool {
        self.districts[0].lock().traffic.is_some()
    }

    /// How they treat frames.
    pub fn weather(&self) -> Weather {
        self.weather
    }

    /// When the next frame arrives in a district, and at which node.
    pub fn next(&self, district: u32) -> Option<(u64, NodeId)> {
        self.districts[district as usize].lock().first.first().copied()
    }

    /// When the next frame arrives at a node.
    pub fn next_at(&self, node: NodeId) -> Option<u64> {
        self.of(node).next_at(node)
    }

    /// When the next quiet goodbye arrives, everywhere in a district.
    pub fn next_goodbye(&self, district: u32) -> Option<u64> {
        self.districts[district as usize].lock().goodbyes.first_key_value().map(|((moment, ..), _)| *moment)
    }

    /// Lets the next quiet goodbye arrive in a district, if it does before this moment; returns when it does, and whose it is.
    pub fn hear_goodbye(&self, district: u32, before: u64) -> Option<(u64, NodeId)> {
        let here = &mut *self.districts[district as usize].lock();
        let goodbye = here.goodbyes.first_entry().filter(|goodbye| goodbye.key().0 < before)?;
        let ((moment, source, _), told) = goodbye.remove_entry();
        if here.quiet.arrive(source, &told) {
            here.look_all();
        }
        Some((moment, source))
    }

    /// When the first of what a district has sent to others since this was asked last arrives there.
    pub fn take_sent_away(&self, district: u32) -> Option<u64> {
        self.districts[district as usize].lock().sent_away.take()
    }

    /// Lets the next frame arrive at a node, whose PEs are to look at their network.
    pub fn arrive(&self, target: NodeId) -> Option<Arrival> {
        let here = &mut *self.of(target);
        let (key, load) = here.take_first(target)?;
        let (moment, source, _) = key;
        let is_changed = here.changed == Some(key);
        let hash = load.hash();
        let node = &mut here.nodes[target.index()];
        if let Load::Frame(..) = load {
            node.met.insert(source);
        }
        node.arrived.push_back((source, load));
        Some(Arrival { moment, source, target, hash, is_changed })
    }

    /// The nodes of a district that found no room before and for which there is some again, and those that may be done since all others have said
    /// goodbye: they are to look at their network.
    pub fn take_roomy(&self, district: u32) -> Vec<NodeId> {
        std::mem::take(&mut self.districts[district as usize].lock().roomy)
    }

    /// The nodes of a district that met a burst since this was asked last, and when it ends: they are to look at their network then.
    pub fn take_held_up(&self, district: u32) -> Vec<(u64, NodeId)> {
        std::mem::take(&mut self.districts[district as usize].lock().held_up)
    }

    /// Sends a frame, at the caller's time.
    pub(super) fn send(&self, source: NodeId, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let mut guard = self.of(source);
        let here = &mut *guard;
        if here.are_apart(source, target) {
            return Ok(());
        }
        if let Some(until) = here.bursts.until((source, target), clock::now_ns()) {
            here.held_up.push((until, source));
            return Err(NoRoom);
        }
        let way = match here.ways.entry((source, target)) {
            Entry::Occupied(way) => way.into_mut(),
            Entry::Vacant(way) => {
                here.nodes[source.index()].met.insert(target);
                way.insert(Way::default())
            }
        };
        if way.frames >= self.weather.room {
            way.is_refused = true;
            return Err(NoRoom);
        }
        if self.weather.is_limited() {
            way.frames += 1;
        }
        let is_free = frame.channel == Channel::Runtime && !here.keeps_order;
        let lane = (source, target, is_free.then(Caller::current));
        let arrives = match &mut here.traffic {
            Some(traffic) => {
                let departure = traffic.depart(clock::now_ns(), (source, target), frame.len());
                driven::spend_until(departure.over);
                departure.arrives
            }
            None => clock::now_ns() + self.weather.delay_ns(frame.len(), &mut here.dice),
        };
        let behind = here.lanes.entry(lane).or_default();
        *behind = arrives.max(*behind);
        way.last = way.last.max(*behind);
        let (moment, mut bytes) = (*behind, frame.to_vec());
        let is_changed = here.corruption.as_mut().is_some_and(|corruption| corruption.strike(&mut bytes));
        let key = here.key(moment, source);
        if is_changed {
            here.changed = Some(key);
        }
        self.set_out(guard, [(key, target, Load::Frame(frame.channel, bytes))]);
        Ok(())
    }

    /// Says goodbye to all peers.
    pub(super) fn say_goodbye(&self, source: NodeId) {
        let mut guard = self.of(source);
        let here = &mut *guard;
        if here.nodes[source.index()].is_lost {
            return;
        }
        here.nodes[source.index()].has_left = true;
        let all = 0..here.nodes.len() as u32;
        let is_quiet = here.quiet.is_possible();
        let told: Vec<NodeId> = match is_quiet {
            true => std::mem::take(&mut here.nodes[source.index()].met).into_iter().collect(),
            false => all.map(NodeId).filter(|peer| *peer != source).collect(),
        };
        let now = clock::now_ns();
        let mut loads = Vec::with_capacity(told.len() + 1);
        for peer in &told {
            if here.nodes[peer.index()].is_lost {
                continue;
            }
            let arrives = match &here.traffic {
                Some(traffic) => traffic.arrival_of_goodbye(now, source, *peer),
                None => now + self.weather.delay_ns(0, &mut here.dice),
            };
            let behind = here.ways.get(&(source, *peer)).map_or(0, |way| way.last);
            loads.push((here.key(arrives.max(behind), source), *peer, Load::Goodbye));
        }
        if is_quiet {
            let arrives = match &here.traffic {
                Some(traffic) => traffic.arrival_of_farthest_goodbye(now),
                None => now + self.weather.delay_ns(0, &mut here.dice),
            };
            let key = here.key(arrives, source);
            here.note_away(arrives);
            self.set_out(guard, loads);
            for district in &self.districts {
                district.lock().goodbyes.insert(key, told.clone());
            }
        } else {
            self.set_out(guard, loads);
        }
    }

    /// Puts what a node of a district has sent on its way. The lock of that district is given up before those of others are taken.
    fn set_out(
        &self,
        mut here: MutexGuard<'_, District>,
        loads: impl IntoIterator<Item = (Key, NodeId, Load)>,
    ) {
        let mut away = Vec::new();
        for (key, target, load) in loads {
            if self.district_of(target) == self.district_of(key.1) {
                here.put(key, target, load);
            } else {
                here.note_away(key.0);
                away.push((key, target, load));
            }
        }
        drop(here);
        away.into_iter().for_each(|(key, target, load)| self.of(target).put(key, target, load));
    }

    /// Of how many goodbyes a node has heard that were not said to it alone.
    pub(super) fn heard_quietly(&self, node: NodeId) -> u32 {
        self.of(node).quiet.heard(node)
    }

    /// Loses a node, which sends nothing from now on.
    ///
    /// # Panics
    /// If there are several districts.
    pub fn lose(&self, lost: NodeId, now: u64) {
        assert_eq!(self.districts.len(), 1, "who loses a node drives all");
        let state = &mut *self.of(lost);
        let node = &mut state.nodes[lost.index()];
        node.is_lost = true;
        node.arrived.clear();
        state.keep(lost, |_| false);
        if !state.nodes[lost.index()].has_left && state.quiet.lose() {
            state.look_all();
        }
        for peer in (0..state.nodes.len() as u32).map(NodeId) {
            if peer == lost || state.nodes[peer.index()].is_lost {
                continue;
            }
            if state.ways.get_mut(&(peer, lost)).is_some_and(|way| std::mem::take(&mut way.is_refused)) {
                state.roomy.push(peer);
            }
            if state.nodes[lost.index()].has_left {
                continue;
            }
            let last = state.ways.get(&(lost, peer)).map_or(0, |way| way.last);
            let told = state.dice.random_range(now + 1..=last.max(now + 1));
            state.keep(peer, |(moment, source, _)| *source != lost || *moment <= told);
            let key = state.key(told, lost);
            state.put(key, peer, Load::Loss);
        }
    }

    /// How much waits at a node to be taken.
    pub(super) fn waiting(&self, node: NodeId) -> usize {
        self.of(node).nodes[node.index()].arrived.len()
    }

    /// Takes what has waited at a node the longest.
    pub(super) fn take(&self, node: NodeId) -> Option<(NodeId, Load)> {
        let here = &mut *self.of(node);
        let (source, load) = here.nodes[node.index()].arrived.pop_front()?;
        if let Load::Frame(_, bytes) = &load {
            if self.weather.is_limited()
                && let Some(way) = here.ways.get_mut(&(source, node))
            {
                way.frames -= 1;
                if std::mem::take(&mut way.is_refused) {
                    here.roomy.push(source);
                }
            }
            if let Some(traffic) = &mut here.traffic {
                driven::spend_until(traffic.receive(clock::now_ns(), node, bytes.len()));
            }
        }
        Some((source, load))
    }
}

impl District {
    /// One of a job of so many nodes, where nothing happens by chance.
    fn new(nodes: u32, traffic: Option<Traffic>) -> Self {
        Self {
            first: BTreeSet::new(),
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
    fn are_apart(&self, one: NodeId, other: NodeId) -> bool {
        [one, other].iter().any(|node| self.nodes[node.index()].is_lost)
    }

    /// Has all nodes look at their network.
    fn look_all(&mut self) {
        self.roomy.extend((0..self.nodes.len() as u32).map(NodeId));
    }

    /// When the next frame arrives at a node.
    fn next_at(&self, node: NodeId) -> Option<u64> {
        self.nodes[node.index()].on_their_way.first_key_value().map(|((moment, ..), _)| *moment)
    }

    /// Changes what is on its way to a node.
    fn change<R>(&mut self, node: NodeId, change: impl FnOnce(&mut BTreeMap<Key, Load>) -> R) -> R {
        let before = self.next_at(node);
        let result = change(&mut self.nodes[node.index()].on_their_way);
        let next = self.next_at(node);
        if next != before {
            before.inspect(|moment| _ = self.first.remove(&(*moment, node)));
            next.inspect(|moment| _ = self.first.insert((*moment, node)));
        }
        result
    }

    fn put(&mut self, key: Key, target: NodeId, load: Load) {
        self.change(target, |on_their_way| _ = on_their_way.insert(key, load));
    }

    fn take_first(&mut self, target: NodeId) -> Option<(Key, Load)> {
        self.change(target, BTreeMap::pop_first)
    }

    fn keep(&mut self, target: NodeId, keeps: impl Fn(&Key) -> bool) {
        self.change(target, |on_their_way| on_their_way.retain(|key, _| keeps(key)));
    }

    /// Notes that something arrives in another district.
    fn note_away(&mut self, moment: u64) {
        self.sent_away = Some(self.sent_away.map_or(moment, |first| first.min(moment)));
    }

    /// The key of what a node sends now.
    fn key(&mut self, moment: u64, source: NodeId) -> Key {
        let node = &mut self.nodes[source.index()];
        node.sent += 1;
        (moment, source, node.sent)
    }
}

impl Load {
    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        match self {
            Self::Frame(channel, bytes) => {
                hasher.write_u8(*channel as u8);
                hasher.write(bytes);
            }
            Self::Goodbye => hasher.write_u8(u8::MAX),
            Self::Loss => hasher.write_u8(u8::MAX - 1),
        }
        hasher.finish()
    }
}

/// How a network treats frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weather {
    /// Least time on the way, in nanoseconds.
    pub least_ns: u64,
    /// How much longer most take at the most, in nanoseconds.
    pub spread_ns: u64,
    /// How much longer one frame in 64 takes at the most, in nanoseconds.
    pub late_ns: u64,
    /// Time of each KiB on the way, in nanoseconds.
    pub kib_ns: u64,
    /// How many frames of one node to another there is room for, until they are taken there.
    pub room: usize,
}

impl Weather {
    /// What there is where a model describes the network: room.
    const NONE: Self = Self { least_ns: 1, spread_ns: 1, late_ns: 1, kib_ns: 0, room: usize::MAX };

    /// Whether there may be no room.
    fn is_limited(&self) -> bool {
        self.room < usize::MAX
    }

    /// Draws one: what is rare where all is drawn from one distribution comes often where each seed draws its own.
    fn draw(dice: &mut ChaCha8Rng) -> Self {
        let mut one_of = |among: &[u64]| among[dice.random_range(0..among.len())];
        Self {
            least_ns: one_of(&[1, 500, 2_000]),
            spread_ns: one_of(&[1, 300, 5_000, 100_000]),
            late_ns: one_of(&[1, 50_000, 2_000_000]),
            kib_ns: one_of(&[0, 80]),
            room: one_of(&[1, 4, 64, 4_096, 4_096]) as usize,
        }
    }

    /// The same, where these parts alone are left to chance.
    fn under(mut self, chances: Chances) -> Self {
        if !chances.has(Chance::Weather) {
            (self.least_ns, self.spread_ns, self.kib_ns) = (1_000, 1, 0);
        }
        if !chances.has(Chance::Late) {
            self.late_ns = 1;
        }
        if !chances.has(Chance::Room) {
            self.room = 4_096;
        }
        self
    }

    /// How long a frame of so many bytes is on its way.
    fn delay_ns(&self, bytes: usize, dice: &mut ChaCha8Rng) -> u64 {
        let late =
            if dice.next_u64().is_multiple_of(LATE_ONE_IN) { dice.random_range(0..self.late_ns) } else { 0 };
        let length = (bytes as u64 * self.kib_ns) >> 10;
        self.least_ns + dice.random_range(0..self.spread_ns) + late + length
    }
}
