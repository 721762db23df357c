//! Diffusion: work flows from who has too much to those whom it calls, and what is at the border goes first (after "communication-aware
//! diffusion", arXiv 2603.23329).
//!
//! 1. How much flows over which link says [`Flow`]. A domain gives after it was given to, so that work can come a long way in one plan; the
//!    object itself moves once.
//! 2. Over a link go those that lose least of what they call here for what they call there, by the work that they bring; who calls nobody
//!    there does not go before others that do, unless it brings much more. Each that goes draws its neighbours after it.
//! 3. Then what is better off elsewhere moves, within the limit; and what is still too much is refined away.

use super::cut::{Affinity, gather};
use super::domain::{ELSEWHERE, Item};
use super::flow::Flow;
use super::graph::{Calls, Graph};
use super::ledger::Ledger;
use super::level::{Level, by_levels};
use super::lightest::{Lightest, bytes_min};
use super::refine::refine;
use crate::model::loads::{Loads, Moves};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// Lets work flow from PE to PE until none takes longer than `tolerance` times the average: `O((n + e) log n)` for `n` objects and `e`
/// edges, and some rounds over all PEs. Where nobody calls anyone it refines.
pub(super) fn diffuse(loads: &Loads, moves: &mut Moves, tolerance: f64) {
    let calls = Calls::new(loads);
    by_levels(loads, moves, Some(&calls), |level| spread(level, level.limit(tolerance)));
}

fn spread(level: &Level, limit: f64) -> Vec<u32> {
    if level.graph.is_empty() {
        return refine(level, level.places(), limit);
    }
    let mut diffusion = Diffusion::new(level, limit);
    // As objects are not divided, who aims at the limit itself misses it.
    diffusion.flow(f64::midpoint(limit, level.average()).min(limit));
    let places = &diffusion.places[..level.items.len()];
    refine(level, gather(level, places, limit), limit)
}

/// How much more it counts what an item calls here if it calls nobody there. With 1 what has just come and weighs much goes on at once and
/// lies in the midst of others; with 2 twice as much moves where loads lie far apart, for a tenth less traffic.
const FAR: f64 = 1.5;

/// A diffusion under way.
struct Diffusion<'a> {
    items: &'a [Item],
    graph: &'a Graph,
    /// The domain of each vertex.
    places: Vec<u32>,
    ledger: Ledger,
    /// How much each item calls those of the taker, and of the giver, while one gives to another.
    calls: Vec<(f64, f64)>,
}

/// An item that may go over a link.
#[derive(Clone, Copy, PartialEq)]
struct Candidate {
    /// What is called less between domains if it goes, by the work that it brings.
    gain: f64,
    item: u32,
}

impl Eq for Candidate {}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> Ordering {
        self.gain.total_cmp(&other.gain).then(other.item.cmp(&self.item))
    }
}

impl<'a> Diffusion<'a> {
    /// That of a level whose newcomers have found a place: where those are whom they call, or else where they are done soonest.
    fn new(level: &'a Level, limit: f64) -> Self {
        let (items, graph) = (&level.items[..], &level.graph);
        let mut places = graph.with_pinned(&level.places());
        let ledger = Ledger::with(&level.domains, items, &places);
        let mut lightest = Lightest::new(&level.domains, ledger, bytes_min(items));
        let mut affinity = Affinity::new(lightest.ledger.domains());
        for newcomer in (0..items.len() as u32).filter(|item| items[*item as usize].at == ELSEWHERE) {
            let item = &items[newcomer as usize];
            affinity.clear();
            affinity.add(graph.around(newcomer), &places);
            let fits = |(domain, _): &(u32, f32)| lightest.ledger.time_with(*domain, item.load) <= limit;
            let most = affinity.iter().filter(fits).max_by(|one, other| one.1.total_cmp(&other.1));
            let most = most.map(|(domain, _)| domain);
            let Some(domain) = most.or_else(|| lightest.best(item).map(|(domain, _)| domain)) else {
                continue;
            };
            lightest.enter(item, domain);
            places[newcomer as usize] = domain;
        }
        Self { items, graph, places, ledger: lightest.ledger, calls: vec![(0.0, 0.0); items.len()] }
    }

    /// Lets work flow until nobody takes longer than `limit`, as far as items can be divided.
    fn flow(&mut self, limit: f64) {
        let flow = Flow::new(self.items, self.graph, &self.places, &self.ledger, limit);
        let mut members = vec![Vec::new(); self.ledger.domains() as usize];
        for (item, place) in self.places[..self.items.len()].iter().enumerate() {
            members[*place as usize].push(item as u32);
        }
        for giver in flow.givers() {
            let mine = std::mem::take(&mut members[giver as usize]);
            for (taker, work) in flow.from(giver) {
                let gone = self.give(giver, taker, work, &mine);
                members[taker as usize].extend(gone);
            }
        }
    }

    /// Gives work to a taker; `members` are the items that were on the giver. Returns what has gone.
    fn give(&mut self, giver: u32, taker: u32, work: f64, members: &[u32]) -> Vec<u32> {
        let is_here =
            |item: &u32| self.places[*item as usize] == giver && self.items[*item as usize].load > 0.0;
        let here: Vec<u32> = members.iter().copied().filter(is_here).collect();
        here.iter().for_each(|item| self.calls[*item as usize] = self.calls_of(*item, giver, taker));
        let mut candidates: BinaryHeap<Candidate> =
            here.into_iter().map(|item| self.candidate(item)).collect();
        let (mut missing, mut gone) = (work, Vec::new());
        while let Some(Candidate { item: number, .. }) = candidates.pop() {
            let item = &self.items[number as usize];
            let is_gone = self.places[number as usize] != giver;
            if is_gone || item.load / 2.0 > missing || !self.ledger.has_room(item, taker) {
                continue;
            }
            missing -= item.load;
            self.ledger.leave(item, giver);
            self.ledger.enter(item, taker);
            self.places[number as usize] = taker;
            gone.push(number);
            for neighbour in self.graph.around(number) {
                let other = neighbour.vertex as usize;
                if other < self.items.len() && self.places[other] == giver && self.items[other].load > 0.0 {
                    let (there, here) = &mut self.calls[other];
                    *there += f64::from(neighbour.weight);
                    *here -= f64::from(neighbour.weight);
                    candidates.push(self.candidate(neighbour.vertex));
                }
            }
        }
        gone
    }

    /// How much an item calls those of the taker, and of the giver.
    fn calls_of(&self, item: u32, giver: u32, taker: u32) -> (f64, f64) {
        let sum = |place: u32| {
            let around = self.graph.around(item).iter();
            let there = around.filter(move |other| self.places[other.vertex as usize] == place);
            there.map(|other| f64::from(other.weight)).sum()
        };
        (sum(taker), sum(giver))
    }

    /// An item that may go from the giver to the taker.
    fn candidate(&self, item: u32) -> Candidate {
        let (there, here) = self.calls[item as usize];
        let loss = if there > 0.0 { here } else { FAR * here };
        Candidate { gain: (there - loss) / self.items[item as usize].load, item }
    }
}
