//! Wires of a simulated network: the frames on their way between its nodes, and those that have arrived and wait to be taken.
//! `simulated/end -> **simulated/wires** -> simulated/end`
//!
//! 1. Order is kept where [`Lrts`](crate::Lrts) promises it, and nowhere else: among frames of the runtime that one caller sends to one node,
//!    and among all frames of one node to another on [`Channel::Emulated`]. All others overtake each other as their delays have it,
//!    unless they have tags.
//! 2. A goodbye arrives behind all frames that its node has sent to that peer; at many that it has nothing to do with, [at once](Quiet).
//! 3. Frames arrive by moment; those of one moment by the number of their node, and those of one node as they were sent.
//! 4. A frame takes as long as the weather has it, or the model of the network, if there is one; then sending and receiving take time, too.
//! 5. There is room for a bounded number of frames or messages between two nodes, until they are taken. A sender that found none is told when
//!    there is. What reaches memory finds room but for bursts.
//! 6. In a [burst](Bursts) there is none for a while, and the sender is told of its end.
//! 7. Of what a node has sent that is [lost](Wires::lose) each peer gets what arrives before some moment, and is told then; one to which the node
//!    had said goodbye gets all and is told nothing, but that what is open at the node has ended. What is sent to the node vanishes. Peers
//!    of an endpoint know its goodbyes themselves, and are told in any case.
//! 8. One frame may [change](Corruption) on its way.
//! 9. [Endpoints](super::Endpoint) send messages, which keep no order, and reach each other's memory [by themselves](super::one_sided). The
//!    words that nodes say of their lives keep theirs.
//! 10. Nodes are dealt out to districts, each of which one thread drives: in a job that several drive, whose network a model describes. What is
//!     sent to another district arrives there no earlier than the [least latency](Network::least_latency_ns) after it was sent.

mod access;
mod district;

pub(in crate::simulated) use district::Load;

use super::chance::{Chance, Chances};
use super::corruption::Corruption;
use super::model::{Network, Traffic};
use super::weather::{Bursts, Weather};
use crate::ambient::caller::Caller;
use crate::ambient::{clock, driven};
use crate::bootstrap::JobKey;
use crate::error::TransferError;
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::NoRoom;
use crate::tcp::keepalive::Sign;
use district::{District, Key, Order, Way};
use parking_lot::{Mutex, MutexGuard};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The stream of the seed's dice that the wires draw from; those of nodes are numbered from 0.
const STREAM: u64 = u64::MAX;

/// The stream that the key of tags is drawn from.
const KEY_STREAM: u64 = u64::MAX - 6;

/// The wires between the nodes of one simulated job.
pub struct Wires {
    seed: u64,
    weather: Weather,
    districts: Vec<Mutex<District>>,
    /// By district, what time it is there, for threads of the program: nobody drives them. [`UNDRIVEN`] where nobody drives anything.
    clocks: Vec<Clock>,
    /// How many nodes each district has, but for the last.
    nodes_each: u32,
}

/// No time: nobody drives a district.
const UNDRIVEN: u64 = u64::MAX;

/// The time of a district, in a cache line of its own: its driver writes it with each event.
#[repr(align(128))]
struct Clock(AtomicU64);

/// One arrival.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// When, in nanoseconds.
    pub moment: u64,
    /// Who sent it.
    pub source: NodeId,
    /// Where it waits to be taken now.
    pub target: NodeId,
    /// Of what it is, and its bytes.
    pub hash: u64,
    /// Whether it has changed on its way.
    pub is_changed: bool,
    /// Whether anything waits there to be taken: what an interface does by itself is none of any PE's.
    pub is_news: bool,
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
        Arc::new(Self::of(seed, weather, vec![Mutex::new(district)], nodes.max(1)))
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
        Arc::new(Self::of(seed, weather, districts, nodes_each))
    }

    fn of(seed: u64, weather: Weather, districts: Vec<Mutex<District>>, nodes_each: u32) -> Self {
        let clocks = districts.iter().map(|_| Clock(AtomicU64::new(UNDRIVEN))).collect();
        Self { seed, weather, districts, clocks, nodes_each }
    }

    /// Takes note what time it is in a district.
    pub fn come_to(&self, district: u32, moment: u64) {
        self.clocks[district as usize].0.store(moment, Ordering::Relaxed);
    }

    /// The time at a node: that of the calling thread, if it is driven.
    pub(super) fn now(&self, node: NodeId) -> u64 {
        let of_district = || Some(self.clocks[self.district_of(node)].0.load(Ordering::Relaxed));
        let driven_ns = driven::now_ns().or_else(|| of_district().filter(|now| *now != UNDRIVEN));
        driven_ns.unwrap_or_else(clock::now_ns)
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

    fn at(&self, node: NodeId) -> MutexGuard<'_, District> {
        self.districts[self.district_of(node)].lock()
    }

    /// The job's key for tags, the same for each node. From now on all frames of one node to another keep their order, as tags need it.
    pub(crate) fn key_of_tags(&self) -> JobKey {
        self.districts.iter().for_each(|district| district.lock().keeps_order = true);
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(KEY_STREAM);
        JobKey(dice.random())
    }

    /// The seed of the job.
    pub(in crate::simulated) fn seed(&self) -> u64 {
        self.seed
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
        let first = self.districts[district as usize].lock().first.first();
        first.map(|(moment, node)| (moment, NodeId(node as u32)))
    }

    /// When the next frame arrives at a node.
    pub fn next_at(&self, node: NodeId) -> Option<u64> {
        self.at(node).first.get(node.index())
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
        let mut guard = self.at(target);
        let here = &mut *guard;
        let (key, load) = here.take_first(target)?;
        let (moment, source, _) = key;
        let is_changed = here.changed == Some(key);
        let hash = load.hash();
        let arrival = Arrival { moment, source, target, hash, is_changed, is_news: true };
        let node = &mut here.nodes[target.index()];
        match load {
            Load::Step(posting, step) => {
                let next = here.take_step(moment, target, posting, step, &self.weather);
                self.set_out(guard, next);
                return Some(Arrival { is_news: false, ..arrival });
            }
            Load::Request(request) => {
                let regions = node.regions.clone();
                // What ends a claim may be told to these wires.
                drop(guard);
                let stale = || Some(Err(TransferError::StaleKey(target)));
                let answer = regions.map_or_else(stale, |regions| request.serve(&regions));
                let is_news = answer.is_none();
                match answer {
                    Some(answer) => self.answer(moment, target, &request, answer),
                    None => {
                        let mut here = self.at(target);
                        let arrived = &mut here.nodes[target.index()].arrived;
                        arrived.push_back((request.poster, Load::Request(request)));
                    }
                }
                return Some(Arrival { is_news, ..arrival });
            }
            Load::Front(load) => {
                let bytes = load.memory_bytes();
                let taken =
                    here.traffic.as_mut().map_or(moment, |traffic| traffic.take_in(moment, target, bytes));
                let key = here.key(taken, target);
                here.put(key, target, *load);
                return Some(Arrival { is_news: false, ..arrival });
            }
            Load::Loss if node.interface.is_some() => node.signs.push((source, Sign::Ended)),
            Load::Sign(sign) => node.signs.push((source, sign)),
            load => {
                if let Load::Frame(..) = load {
                    node.met.insert(source);
                }
                node.arrived.push_back((source, load));
            }
        }
        Some(arrival)
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
    pub(in crate::simulated) fn send(
        &self,
        source: NodeId,
        target: NodeId,
        frame: Frame<'_>,
    ) -> Result<(), NoRoom> {
        let order = match frame.channel {
            Channel::Runtime => Order::Caller(Caller::current()),
            Channel::Emulated => Order::Node,
        };
        let load = |bytes| Load::Frame(frame.channel, bytes);
        self.dispatch((source, target), Some(order), frame.len(), || frame.to_vec(), load, None)
    }

    /// Sends a message of an endpoint, at the caller's time. The endpoint is told when the message in a slot has left.
    pub(in crate::simulated) fn send_message(
        &self,
        way: (NodeId, NodeId),
        parts: &[&[u8]],
        slot: Option<usize>,
    ) -> Result<(), NoRoom> {
        let len = parts.iter().map(|part| part.len()).sum();
        self.dispatch(way, None, len, || parts.concat(), Load::Message, slot)
    }

    /// Sends bytes, if there is room. What keeps no order overtakes what was sent before as the delays have it.
    fn dispatch(
        &self,
        (source, target): (NodeId, NodeId),
        order: Option<Order>,
        len: usize,
        bytes: impl FnOnce() -> Vec<u8>,
        load: impl FnOnce(Vec<u8>) -> Load,
        slot: Option<usize>,
    ) -> Result<(), NoRoom> {
        let mut guard = self.at(source);
        let here = &mut *guard;
        let now = self.now(source);
        if here.are_apart(source, target) {
            if let Some(slot) = slot {
                let key = here.key(now + 1, source);
                here.put(key, source, Load::Sent(slot));
            }
            return Ok(());
        }
        if here.is_held_up((source, target), now) {
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
        let mut arrives = match &mut here.traffic {
            Some(traffic) => {
                let departure = traffic.depart(now, (source, target), len);
                driven::spend_until(departure.over);
                departure.arrives
            }
            None => now + self.weather.delay_ns(len, &mut here.dice),
        };
        if let Some(order) = order {
            let order = if here.keeps_order { Order::Node } else { order };
            let behind = here.lanes.entry((source, target, order)).or_default();
            *behind = arrives.max(*behind);
            arrives = *behind;
        }
        way.last = way.last.max(arrives);
        let mut bytes = bytes();
        // Networks with one-sided access see to it that their messages are whole: nothing above could tell.
        let may_change = here.corruption.as_mut().filter(|_| order.is_some());
        let is_changed = may_change.is_some_and(|corruption| corruption.strike(&mut bytes));
        let key = here.key(arrives, source);
        if is_changed {
            here.changed = Some(key);
        }
        if let Some(slot) = slot {
            // Some networks know that a message has left before it arrives, others after that.
            let left = here.delay_of_nothing(now, (source, target), &self.weather);
            let key = here.key(left, source);
            here.put(key, source, Load::Sent(slot));
        }
        self.set_out(guard, [(key, target, load(bytes))]);
        Ok(())
    }

    /// Tells peers that a node has ended, as its connections do where an endpoint stands.
    pub fn end(&self, node: NodeId, now: u64) {
        let peers = {
            let here = self.at(node);
            if here.nodes[node.index()].interface.is_some() { here.nodes.len() as u32 } else { 0 }
        };
        for peer in (0..peers).map(NodeId).filter(|peer| *peer != node) {
            self.sign(now, (node, peer), Sign::Ended);
        }
    }

    /// Sends a sign of a node's life to a peer.
    pub(in crate::simulated) fn sign(&self, now: u64, (source, target): (NodeId, NodeId), sign: Sign) {
        let mut guard = self.at(source);
        let here = &mut *guard;
        if here.are_apart(source, target) {
            return;
        }
        let arrives = here.delay_of_nothing(now, (source, target), &self.weather);
        let behind = here.lanes.entry((source, target, Order::Signs)).or_default();
        *behind = arrives.max(*behind);
        let arrives = *behind;
        let key = here.key(arrives, source);
        self.set_out(guard, [(key, target, Load::Sign(sign))]);
    }

    /// Takes the signs of peers' lives that have arrived at a node.
    pub(in crate::simulated) fn take_signs(&self, node: NodeId) -> Vec<(NodeId, Sign)> {
        std::mem::take(&mut self.at(node).nodes[node.index()].signs)
    }

    /// Whether there is room for a frame, which a sender has not found before.
    pub(in crate::simulated) fn has_room(&self, source: NodeId, target: NodeId) -> bool {
        let here = &mut *self.at(source);
        let is_refused = here.ways.get(&(source, target)).is_some_and(|way| way.is_refused);
        !is_refused && !here.bursts.is_under_way((source, target), self.now(source))
    }

    /// Says goodbye to all peers.
    pub(in crate::simulated) fn say_goodbye(&self, source: NodeId) {
        let mut guard = self.at(source);
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
        let now = self.now(source);
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
        away.into_iter().for_each(|(key, target, load)| self.at(target).put(key, target, load));
    }

    /// Of how many goodbyes a node has heard that were not said to it alone.
    pub(in crate::simulated) fn heard_quietly(&self, node: NodeId) -> u32 {
        self.at(node).quiet.heard(node)
    }

    /// Loses a node, which sends nothing from now on.
    ///
    /// # Panics
    /// If there are several districts.
    pub fn lose(&self, lost: NodeId, now: u64) {
        assert_eq!(self.districts.len(), 1, "who loses a node drives all");
        let state = &mut *self.at(lost);
        let node = &mut state.nodes[lost.index()];
        node.is_lost = true;
        node.arrived.clear();
        let is_direct = node.regions.take().is_some();
        let on_their_way = state.keep(lost, |_| false);
        state.fail_accesses(now, on_their_way);
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
                if is_direct {
                    let behind = state.last_on_its_way(lost, peer).max(now);
                    let key = state.key(behind + 1, lost);
                    state.put(key, peer, Load::Left);
                }
                continue;
            }
            let last = state.ways.get(&(lost, peer)).map_or(0, |way| way.last);
            let told = state.dice.random_range(now + 1..=last.max(now + 1));
            let vanished = state.keep(peer, |(moment, source, _)| *source != lost || *moment <= told);
            state.fail_accesses(told, vanished);
            let key = state.key(told, lost);
            state.put(key, peer, Load::Loss);
        }
    }

    /// How much waits at a node to be taken, signs of peers' lives left out.
    pub(in crate::simulated) fn waiting(&self, node: NodeId) -> usize {
        self.at(node).nodes[node.index()].arrived.len()
    }

    /// Whether nothing at all waits at a node to be taken.
    pub(in crate::simulated) fn is_quiet_at(&self, node: NodeId) -> bool {
        let here = self.at(node);
        let node = &here.nodes[node.index()];
        node.arrived.is_empty() && node.signs.is_empty()
    }

    /// Takes what has waited at a node the longest.
    pub(in crate::simulated) fn take(&self, node: NodeId) -> Option<(NodeId, Load)> {
        let now = self.now(node);
        let here = &mut *self.at(node);
        let (source, load) = here.nodes[node.index()].arrived.pop_front()?;
        if let Load::Frame(_, bytes) | Load::Message(bytes) = &load {
            if self.weather.is_limited()
                && let Some(way) = here.ways.get_mut(&(source, node))
            {
                way.frames -= 1;
                if std::mem::take(&mut way.is_refused) {
                    here.roomy.push(source);
                }
            }
            if let Some(traffic) = &mut here.traffic {
                driven::spend_until(traffic.receive(now, node, bytes.len()));
            }
        }
        Some((source, load))
    }
}
