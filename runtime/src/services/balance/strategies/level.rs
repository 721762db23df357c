//! Levels: the two on which every strategy works, the nodes of the job and the PEs of a node, one by one.
//!
//! ```text
//! loads --> level of the nodes --> spread --> the node of each object
//!           for each node: level of its PEs, with the objects that stay or come --> spread --> the PE of each object --> moves
//! ```
//! 1. A move between nodes carries an object's state, one between PEs of a node does not: so nodes are balanced first, and with as few
//!    moves as the strategy can.
//! 2. What may not move is no item: it is a part of what its domain has to do.
//! 3. Where there is one node, or one PE a node, there is one level.

use super::domain::{Domain, ELSEWHERE, Item};
use super::graph::{Calls, Graph};
use super::grouped::Grouped;
use crate::model::ids::{NodeId, PeId};
use crate::model::loads::{Loads, Moves};
use std::ops::Range;

/// A level: domains, and the items that are to be spread over them.
pub(super) struct Level {
    pub(super) domains: Vec<Domain>,
    pub(super) items: Vec<Item>,
    /// Who calls whom; empty where the strategy does not ask.
    pub(super) graph: Graph,
    /// Whether there is a level below this one, which adds an imbalance of its own.
    is_upper: bool,
    /// The average of the whole job.
    job_average: f64,
}

impl Level {
    /// The time that each domain would take if all took the same.
    pub(super) fn average(&self) -> f64 {
        let together = Domain::together(&self.domains);
        (together.fixed + self.items.iter().map(|item| item.load).sum::<f64>()) / together.speed
    }

    /// The time that a domain may take, so that in the end no PE takes more than `tolerance` times the average of the job. The upper level
    /// leaves half of that to the lower one; on the lower one, what came to this node may be more than can be spread that well.
    pub(super) fn limit(&self, tolerance: f64) -> f64 {
        self.limit_with(tolerance, 0.5)
    }

    /// The same where the upper level takes this part of what the average may be exceeded by.
    pub(super) fn limit_with(&self, tolerance: f64, upper: f64) -> f64 {
        let spare = tolerance - 1.0;
        match self.is_upper {
            true => self.job_average * (1.0 + spare * upper),
            false => f64::max(self.job_average * tolerance, self.average() * (1.0 + spare / 4.0)),
        }
    }

    /// The domains in an order in which those of a host follow each other.
    pub(super) fn by_host(&self) -> Vec<u32> {
        let mut domains: Vec<u32> = (0..self.domains.len() as u32).collect();
        domains.sort_by_key(|domain| self.domains[*domain as usize].host);
        domains
    }

    /// The domain of each item where nothing moves.
    pub(super) fn places(&self) -> Vec<u32> {
        self.items.iter().map(|item| item.at).collect()
    }

    /// What to call this level with other items, of which nobody calls anyone.
    pub(super) fn with(&self, domains: Vec<Domain>, items: Vec<Item>) -> Self {
        Self { domains, items, graph: Graph::default(), ..*self }
    }
}

/// Spreads the objects over the nodes, then those of each node over its PEs. `spread` gives the domain of each item of a level.
pub(super) fn by_levels(
    loads: &Loads,
    moves: &mut Moves,
    calls: Option<&Calls>,
    spread: impl Fn(&Level) -> Vec<u32>,
) {
    let mut levels = Levels::new(loads, calls);
    let nodes = levels.spread_over_nodes(&spread);
    if loads.pes() == loads.nodes() {
        nodes.into_iter().enumerate().for_each(|(object, node)| {
            moves.to(object, PeId(node));
        });
        return;
    }
    let grouped = Grouped::new(&nodes, loads.nodes());
    for node in (0..loads.nodes()).map(NodeId) {
        let coming = grouped.of(node.0).iter().copied();
        for (object, pe) in levels.spread_over_pes(node, coming, &spread) {
            moves.to(object, pe);
        }
    }
}

struct Levels<'a> {
    loads: &'a Loads,
    calls: Option<&'a Calls>,
    /// The vertex of each object in the graph of a level; kept, so that a level does not pay for the objects of others.
    vertices: Vec<u32>,
    job_average: f64,
}

impl<'a> Levels<'a> {
    fn new(loads: &'a Loads, calls: Option<&'a Calls>) -> Self {
        let vertices = if calls.is_some() { vec![ELSEWHERE; loads.objects().len()] } else { Vec::new() };
        Self { loads, calls, vertices, job_average: loads.average() }
    }

    /// The node of each object; of one that may not move, its own.
    fn spread_over_nodes(&mut self, spread: impl Fn(&Level) -> Vec<u32>) -> Vec<u32> {
        let loads = self.loads;
        let mut nodes: Vec<u32> = loads.objects().iter().map(|object| loads.node_of(object.at).0).collect();
        if loads.nodes() > 1 {
            let domain = |node: NodeId| Domain {
                room: loads.room(node),
                host: loads.host_of(node),
                ..self.domain(loads.pes_of(node))
            };
            let domains = (0..loads.nodes()).map(|node| domain(NodeId(node))).collect();
            let all = 0..loads.objects().len() as u32;
            let level =
                self.level(domains, all, &|object| nodes[object as usize], loads.pes() > loads.nodes());
            let spread = spread(&level);
            level.items.iter().zip(spread).for_each(|(item, node)| nodes[item.object as usize] = node);
        }
        nodes
    }

    /// The PE of each of a node's objects that does not stay on its own, whether it comes from this node or not.
    fn spread_over_pes(
        &mut self,
        node: NodeId,
        objects: impl Iterator<Item = u32>,
        spread: impl Fn(&Level) -> Vec<u32>,
    ) -> Vec<(usize, PeId)> {
        let (loads, pes) = (self.loads, self.loads.pes_of(node));
        let domains = pes.clone().map(|pe| self.domain(pe..pe + 1)).collect();
        let rank = |object: u32| match loads.objects()[object as usize].at.0 {
            pe if pes.contains(&pe) => pe - pes.start,
            _ => ELSEWHERE,
        };
        let mut level = self.level(domains, objects, &rank, false);
        level.items.iter_mut().for_each(|item| item.bytes = 0);
        let spread = spread(&level);
        let moved = level.items.iter().zip(spread).filter(|(item, rank)| item.at != *rank);
        moved.map(|(item, rank)| (item.object as usize, PeId(pes.start + rank))).collect()
    }

    /// A domain of these PEs, with what on them is no object.
    fn domain(&self, pes: Range<u32>) -> Domain {
        let sum = |of: fn(&Loads, PeId) -> f64| pes.clone().map(|pe| of(self.loads, PeId(pe))).sum();
        Domain { fixed: sum(Loads::fixed), speed: sum(Loads::speed), room: u64::MAX, host: 0 }
    }

    /// The level of these objects: `domain_of` says on which domain each is.
    fn level(
        &mut self,
        mut domains: Vec<Domain>,
        objects: impl Iterator<Item = u32>,
        domain_of: &dyn Fn(u32) -> u32,
        is_upper: bool,
    ) -> Level {
        let (mut items, mut pinned) = (Vec::with_capacity(objects.size_hint().0), Vec::new());
        for number in objects {
            let (object, at) = (&self.loads.objects()[number as usize], domain_of(number));
            if object.may_move {
                items.push(Item { object: number, at, load: object.load, bytes: object.bytes });
            } else {
                domains[at as usize].fixed += object.load;
                pinned.push((number, at));
            }
        }
        let graph = match self.calls {
            Some(calls) => Graph::of_level(calls, &items, &pinned, &mut self.vertices),
            None => Graph::default(),
        };
        Level { domains, items, graph, is_upper, job_average: self.job_average }
    }
}
