//! Access to memory over the wires: how interfaces of endpoints and direct requests travel, and what becomes of those whose peer is lost.

use super::Wires;
use super::district::{District, Key, Load};
use crate::ambient::driven;
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::NoRoom;
use crate::region::Regions;
use crate::simulated::direct::{Answer, Request};
use crate::simulated::one_sided::{Interface, Posting, Step};
use crate::simulated::weather::Weather;
use std::sync::Arc;

/// Why an access fails whose peer is gone.
const GONE: &str = "it is gone";

impl Wires {
    /// Adds an endpoint, whose interface reaches memory by itself.
    pub(in crate::simulated) fn open_interface(&self, node: NodeId) {
        self.at(node).nodes[node.index()].interface = Some(Box::default());
    }

    /// Changes what the interface of an endpoint reaches.
    ///
    /// # Panics
    /// If there is none.
    pub(in crate::simulated) fn with_interface<R>(
        &self,
        node: NodeId,
        change: impl FnOnce(&mut Interface) -> R,
    ) -> R {
        change(self.at(node).nodes[node.index()].interface.as_mut().expect("an endpoint has opened it"))
    }

    /// Has an interface move memory by itself, at the caller's time.
    pub(in crate::simulated) fn post(&self, posting: Posting) -> Result<(), NoRoom> {
        let mut guard = self.at(posting.poster);
        let here = &mut *guard;
        let (source, now) = (posting.poster, self.now(posting.poster));
        if here.is_held_up((source, posting.transfer.peer), now) {
            return Err(NoRoom);
        }
        let leaves = match &here.traffic {
            Some(traffic) => {
                let over = traffic.post(now);
                driven::spend_until(over);
                over
            }
            None => now + self.weather.delay_ns(0, &mut here.dice),
        };
        let key = here.key(leaves, source);
        here.put(key, source, Load::Step(posting, Step::Leaves));
        Ok(())
    }

    /// Has others reach a node's memory directly.
    pub(in crate::simulated) fn open_memory(self: &Arc<Self>, regions: &Arc<Regions>) {
        let node = regions.node();
        self.at(node).nodes[node.index()].regions = Some(Arc::clone(regions));
        let wires = Arc::downgrade(self);
        regions.on_news(move || {
            if let Some(wires) = wires.upgrade() {
                wires.at(node).roomy.push(node);
            }
        });
    }

    /// A node's memory, if others reach it directly, unless it is lost.
    pub(in crate::simulated) fn regions_of(&self, node: NodeId) -> Option<Arc<Regions>> {
        self.at(node).nodes[node.index()].regions.clone()
    }

    /// Sends a request to the node whose memory it is, at the caller's time.
    pub(in crate::simulated) fn ask(&self, request: Request) -> Result<(), NoRoom> {
        let mut guard = self.at(request.poster);
        let here = &mut *guard;
        let (way, now) = ((request.poster, request.key.node), self.now(request.poster));
        if here.are_apart(way.0, way.1) {
            let key = here.key(now + 1, way.0);
            here.put(key, way.0, Load::Answered(request.id, Err(TransferError::PeerLost(way.1))));
            return Ok(());
        }
        if here.is_held_up(way, now) {
            return Err(NoRoom);
        }
        let over = here.traffic.as_ref().map_or(now, |traffic| traffic.post(now));
        driven::spend_until(over);
        let leaves = here.carry(over, way, Load::Request(request), &self.weather);
        self.set_out(guard, [leaves]);
        Ok(())
    }

    /// Sends the answer to a request from the node whose memory it was.
    pub(in crate::simulated) fn answer(&self, now: u64, node: NodeId, request: &Request, answer: Answer) {
        let mut guard = self.at(node);
        let here = &mut *guard;
        if here.are_apart(node, request.poster) {
            return;
        }
        let answered = Load::Answered(request.id, answer);
        let leaves = here.carry(now, (node, request.poster), answered, &self.weather);
        self.set_out(guard, [leaves]);
    }
}

impl District {
    /// Has accesses fail of which a step has vanished, if their posters are there.
    pub(super) fn fail_accesses(&mut self, now: u64, vanished: impl IntoIterator<Item = Load>) {
        for load in vanished {
            if let Load::Step(posting, _) = load.whole()
                && !self.nodes[posting.poster.index()].is_lost
            {
                let key = self.key(now + 1, posting.poster);
                self.put(key, posting.poster, Load::Moved(posting.slot, Err(GONE.to_owned())));
            }
        }
    }

    /// Puts what an interface sends by itself on its way: its front alone, where a model says how long the rest takes.
    fn carry(
        &mut self,
        now: u64,
        (source, target): (NodeId, NodeId),
        load: Load,
        weather: &Weather,
    ) -> (Key, NodeId, Load) {
        let bytes = load.memory_bytes();
        let (arrives, load) = match &mut self.traffic {
            Some(traffic) => (traffic.carry(now, (source, target), bytes), Load::Front(Box::new(load))),
            None => (now + weather.delay_ns(bytes, &mut self.dice), load),
        };
        (self.key(arrives, source), target, load)
    }

    /// When the last of what a node has sent to a peer arrives, of all that is still to come.
    pub(super) fn last_on_its_way(&self, source: NodeId, peer: NodeId) -> u64 {
        let coming = self.nodes[peer.index()].on_their_way.keys();
        coming.filter(|(_, from, _)| *from == source).map(|(moment, ..)| *moment).max().unwrap_or(0)
    }

    /// Takes one step of an access at the node where it is; returns the next one.
    pub(super) fn take_step(
        &mut self,
        now: u64,
        node: NodeId,
        posting: Posting,
        step: Step,
        weather: &Weather,
    ) -> Option<(Key, NodeId, Load)> {
        let (poster, peer) = (posting.poster, posting.transfer.peer);
        let interface = self.nodes[node.index()].interface.as_ref();
        let gone = || Step::Returns(Err(GONE.to_owned()));
        let (next, target) = match step {
            Step::Leaves if self.are_apart(poster, peer) => (gone(), poster),
            Step::Leaves => (interface?.leave(&posting)?, peer),
            Step::Reaches(carried) => {
                (interface.map_or_else(gone, |interface| interface.reach(&posting, &carried)), poster)
            }
            Step::Returns(result) => {
                let result = interface?.conclude(&posting, result)?;
                return Some((self.key(now, node), node, Load::Moved(posting.slot, result)));
            }
        };
        Some(self.carry(now, (node, target), Load::Step(posting, next), weather))
    }
}
