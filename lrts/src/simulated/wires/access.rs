//! Access to memory over the wires: how interfaces of endpoints and direct requests travel, and what becomes of those whose peer is lost.

use super::Wires;
use super::district::{District, Key, Load};
use crate::ambient::driven;
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
        let here = self.at(node);
        let node = &here.nodes[node.index()];
        node.regions.clone().filter(|_| !node.is_lost)
    }

    /// Whether a peer is lost, or this node.
    pub(in crate::simulated) fn are_apart(&self, node: NodeId, peer: NodeId) -> bool {
        self.at(node).are_apart(node, peer)
    }

    /// Sends a request to the node whose memory it is, at the caller's time.
    pub(in crate::simulated) fn ask(&self, request: Request) -> Result<(), NoRoom> {
        let mut guard = self.at(request.poster);
        let here = &mut *guard;
        let (way, now) = ((request.poster, request.key.node), self.now(request.poster));
        if here.is_held_up(way, now) {
            return Err(NoRoom);
        }
        let there = request.bytes().0;
        let arrives = match &mut here.traffic {
            Some(traffic) => {
                let over = traffic.post(now);
                driven::spend_until(over);
                traffic.carry(over, way, there)
            }
            None => now + self.weather.delay_ns(there, &mut here.dice),
        };
        let key = here.key(arrives, way.0);
        self.set_out(guard, [(key, way.1, Load::Request(request))]);
        Ok(())
    }

    /// Sends the answer to a request from the node whose memory it was.
    pub(in crate::simulated) fn answer(&self, now: u64, node: NodeId, request: &Request, answer: Answer) {
        let mut guard = self.at(node);
        let here = &mut *guard;
        if here.are_apart(node, request.poster) {
            return;
        }
        let ((there, _), back) = (request.bytes(), answer.as_ref().map_or(0, Vec::len));
        let arrives = match &mut here.traffic {
            Some(traffic) => {
                let over = traffic.take_in(now, node, there);
                traffic.carry(over, (node, request.poster), back)
            }
            None => now + self.weather.delay_ns(back, &mut here.dice),
        };
        let key = here.key(arrives, node);
        self.set_out(guard, [(key, request.poster, Load::Answer(request.id, answer))]);
    }
}

impl District {
    /// Has accesses of a poster fail whose peer is lost.
    pub(super) fn fail_accesses(
        &mut self,
        now: u64,
        poster: NodeId,
        vanished: impl IntoIterator<Item = Load>,
    ) {
        for load in vanished {
            if let Load::Step(posting, _) = load
                && posting.poster == poster
            {
                let key = self.key(now + 1, poster);
                self.put(key, poster, Load::Moved(posting.slot, Err(GONE.to_owned())));
            }
        }
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
        let (there, back) = posting.bytes();
        let interface = self.nodes[node.index()].interface.as_ref();
        let (next, target, bytes) = match step {
            Step::Leaves if self.are_apart(poster, peer) => {
                (Some(Step::Returns(Err(GONE.to_owned()))), poster, 0)
            }
            Step::Leaves => (interface?.leave(&posting), peer, there),
            Step::Reaches(carried) => {
                let gone = || Step::Returns(Err(GONE.to_owned()));
                (Some(interface.map_or_else(gone, |it| it.reach(&posting, &carried))), poster, back)
            }
            Step::Returns(result) => {
                let result = interface?.conclude(&posting, result)?;
                let over = self.traffic.as_mut().map_or(now, |traffic| traffic.take_in(now, node, back));
                return Some((self.key(over, node), node, Load::Moved(posting.slot, result)));
            }
        };
        let arrives = match &mut self.traffic {
            Some(traffic) => {
                let here = if node == peer { traffic.take_in(now, node, there) } else { now };
                traffic.carry(here, (node, target), bytes)
            }
            None => now + weather.delay_ns(bytes, &mut self.dice),
        };
        Some((self.key(arrives, node), target, Load::Step(posting, next?)))
    }
}
