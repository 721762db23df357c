//! Cast of a simulated job: its nodes and PEs, and in whose surroundings each of their steps runs.

use super::made::Made;
use crate::delivery::polling;
use crate::job::goodbye::Goodbye;
use crate::job::life::GOODBYE_PATIENCE;
use crate::job::services::SERVICES;
use crate::model::ids::{NodeId, PeId};
use crate::node::Node;
use crate::pe::Pe;
use chare_lrts::Ambient;
use std::rc::Rc;
use std::sync::Arc;

/// Whoever has turns: PEs by their numbers, behind them the nodes, which take leave, and the nodes once more, which are to look at their network.
pub(super) type Actor = u32;

/// Time between two looks of a node that takes leave and still has something to send, in nanoseconds.
const LEAVE_NS: u64 = 10_000;

/// What becomes of a node.
pub(super) enum Stage<'a> {
    Runs,
    Leaves {
        goodbye: Goodbye<'a>,
        until: u64,
    },
    Gone,
    /// As a process that was killed.
    Lost,
}

pub(super) struct SimulatedNode<'a> {
    pub(super) node: &'a Arc<Node>,
    pub(super) ambient: &'a Rc<Ambient>,
    pub(super) stage: Stage<'a>,
    /// How many of its PEs have not ended.
    pub(super) running: u32,
    /// How much longer than others its PEs take.
    pub(super) slowness: u64,
}

impl SimulatedNode<'_> {
    /// Goes on to take leave; returns when it has to look again, unless it is gone.
    pub(super) fn leave(&mut self, now: u64, caller: u64) -> Option<u64> {
        let (ambient, node, stage) = (self.ambient, self.node, &mut self.stage);
        ambient.within(now, caller, || {
            if matches!(stage, Stage::Runs) {
                let until = now + GOODBYE_PATIENCE.as_nanos() as u64;
                *stage = Stage::Leaves { goodbye: Goodbye::leave(node), until };
            }
            let Stage::Leaves { goodbye, until } = &mut *stage else { return None };
            if !goodbye.is_gone() && now < *until {
                let did = polling::progress(node, None);
                return Some(if did || !goodbye.is_said() { now + LEAVE_NS } else { *until });
            }
            if let Stage::Leaves { goodbye, .. } = std::mem::replace(stage, Stage::Gone) {
                goodbye.clear();
            }
            None
        })
    }
}

pub(super) struct SimulatedPe {
    pub(super) pe: Rc<Pe>,
    /// When its last turn is over, with all that it has spent: it has the next one no earlier.
    pub(super) free_at: u64,
    /// Since when it rests, if it does.
    pub(super) rests_since: Option<u64>,
    /// Whether it has had its last turn.
    pub(super) is_over: bool,
}

/// The nodes and PEs of a job that one thread drives.
pub(super) struct Cast<'a> {
    /// The number of the first of the nodes, and of its first PE.
    first: (u32, u32),
    pub(super) nodes: Vec<SimulatedNode<'a>>,
    pub(super) pes: Vec<SimulatedPe>,
}

impl<'a> Cast<'a> {
    /// The nodes that were made, each as slow as it is told, and their PEs, which shuffle messages if they have a seed for that.
    pub(super) fn of(made: &'a Made, shuffle: Option<u64>, mut slowness: impl FnMut() -> u64) -> Self {
        let first = &made.nodes[0];
        let first = (first.id.0, first.id.0 * first.topology.pes_per_node());
        let mut cast = Self { first, nodes: Vec::new(), pes: Vec::new() };
        for (node, ambient) in made.nodes.iter().zip(&made.ambients) {
            let make = |id| ambient.within(0, 0, || Pe::new(id, Arc::clone(node), shuffle, SERVICES));
            let begun = cast.pes.len();
            cast.pes.extend(node.pes().map(|id| SimulatedPe {
                pe: make(id),
                free_at: 0,
                rests_since: None,
                is_over: false,
            }));
            let running = (cast.pes.len() - begun) as u32;
            let stage = Stage::Runs;
            cast.nodes.push(SimulatedNode { node, ambient, stage, running, slowness: slowness() });
        }
        cast
    }
}

impl Cast<'_> {
    /// Which of the nodes has this number, if one has.
    pub(super) fn find(&self, node: NodeId) -> Option<usize> {
        let index = node.0.checked_sub(self.first.0)? as usize;
        (index < self.nodes.len()).then_some(index)
    }

    /// The number of a node.
    pub(super) fn node_id(&self, node: usize) -> NodeId {
        NodeId(self.first.0 + node as u32)
    }

    /// The number of a PE; and whose number an actor calls by that is none, which no PE of its node has.
    pub(super) fn pe_id(&self, actor: Actor) -> PeId {
        PeId(self.first.1 + actor)
    }

    /// The node of a PE.
    pub(super) fn node_of(&self, pe: Actor) -> usize {
        pe as usize / (self.pes.len() / self.nodes.len())
    }

    /// Whether the node of a PE was lost.
    pub(super) fn is_lost(&self, pe: Actor) -> bool {
        matches!(self.nodes[self.node_of(pe)].stage, Stage::Lost)
    }

    /// The actor that takes leave for a node.
    pub(super) fn actor_of(&self, node: usize) -> Actor {
        (self.pes.len() + node) as Actor
    }

    /// The actor that has a node look at its network.
    pub(super) fn looker_of(&self, node: usize) -> Actor {
        (self.pes.len() + self.nodes.len() + node) as Actor
    }

    /// The PEs of a node.
    pub(super) fn pes_of(&self, node: usize) -> &[SimulatedPe] {
        let pes = self.pes.len() / self.nodes.len();
        &self.pes[node * pes..(node + 1) * pes]
    }

    /// Runs `body` at a time in the surroundings of a PE's node, as that PE.
    pub(super) fn within<R>(&self, now: u64, pe: Actor, body: impl FnOnce(&Self) -> R) -> R {
        self.within_until(now, pe, body).0
    }

    /// The same; returns the time at its end, too, which is later if it has spent some.
    pub(super) fn within_until<R>(&self, now: u64, pe: Actor, body: impl FnOnce(&Self) -> R) -> (R, u64) {
        self.nodes[self.node_of(pe)].ambient.within_until(now, self.pe_id(pe).0.into(), || body(self))
    }
}
