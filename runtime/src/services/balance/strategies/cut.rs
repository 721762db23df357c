//! Cuts: the calls between domains, and moves of single items that make them fewer.

use super::domain::Item;
use super::graph::{Graph, Neighbour};
use super::ledger::Ledger;
use super::level::Level;

/// The looks at all items, and then at those whose neighbours have moved, or that found no space.
const PASSES: usize = 20;

/// How much a vertex, or several, calls those of each domain that it calls at all.
pub(super) struct Affinity {
    /// By domain; nothing but for those that are called.
    weights: Vec<f32>,
    called: Vec<u32>,
}

impl Affinity {
    pub(super) fn new(domains: u32) -> Self {
        Self { weights: vec![0.0; domains as usize], called: Vec::new() }
    }

    /// Forgets what it has looked at.
    pub(super) fn clear(&mut self) {
        self.called.drain(..).for_each(|domain| self.weights[domain as usize] = 0.0);
    }

    /// Looks at the neighbours of a vertex, too; those that are nowhere do not count.
    pub(super) fn add(&mut self, around: &[Neighbour], places: &[u32]) {
        for neighbour in around {
            let place = places[neighbour.vertex as usize];
            let Some(weight) = self.weights.get_mut(place as usize) else { continue };
            if *weight == 0.0 {
                self.called.push(place);
            }
            *weight += neighbour.weight;
        }
    }

    /// How much it calls those of a domain.
    pub(super) fn to(&self, domain: u32) -> f32 {
        self.weights[domain as usize]
    }

    /// The domains that it calls, and how much.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f32)> {
        self.called.iter().map(|domain| (*domain, self.to(*domain)))
    }
}

/// Moves a level's items to where those are whom they call, as [`refine_cut`] does.
pub(super) fn gather(level: &Level, places: &[u32], limit: f64) -> Vec<u32> {
    let mut ledger = Ledger::with(&level.domains, &level.items, places);
    let mut places = level.graph.with_pinned(places);
    refine_cut(&level.items, &level.graph, &mut places, &mut ledger, limit);
    places.truncate(level.items.len());
    places
}

/// Moves items to where those are whom they call, as long as that makes the cut smaller and nobody takes longer than `limit`. Who takes
/// longer already gives items away also where it makes the cut larger. `places` are those of all vertices.
pub(super) fn refine_cut(items: &[Item], graph: &Graph, places: &mut [u32], ledger: &mut Ledger, limit: f64) {
    let mut affinity = Affinity::new(ledger.domains());
    let mut is_due = vec![true; items.len()];
    for _ in 0..PASSES {
        let mut has_moved = false;
        for vertex in 0..items.len() as u32 {
            if !std::mem::take(&mut is_due[vertex as usize]) {
                continue;
            }
            let (around, item, place) =
                (graph.around(vertex), &items[vertex as usize], places[vertex as usize]);
            affinity.clear();
            affinity.add(around, places);
            let (best, is_possible) = better(item, &affinity, place, ledger, limit);
            let Some(domain) = best.filter(|_| is_possible) else {
                // Others may make space.
                is_due[vertex as usize] = best.is_some();
                continue;
            };
            ledger.leave(item, place);
            ledger.enter(item, domain);
            places[vertex as usize] = domain;
            let neighbours = around.iter().map(|neighbour| neighbour.vertex as usize);
            neighbours.filter(|other| *other < items.len()).for_each(|other| is_due[other] = true);
            has_moved = true;
        }
        if !has_moved {
            break;
        }
    }
}

/// The domain on which an item had better be, and whether it has the space for it; one that has goes before one that has not.
fn better(item: &Item, affinity: &Affinity, place: u32, ledger: &Ledger, limit: f64) -> (Option<u32>, bool) {
    let (mine, time) = (affinity.to(place), ledger.time(place));
    let is_over = time > limit && item.load > 0.0;
    let mut best: Option<(bool, f32, f64, u32)> = None;
    for (domain, weight) in affinity.iter().filter(|(domain, _)| *domain != place) {
        let other = ledger.time_with(domain, item.load);
        let is_quieter = weight > mine || weight == mine && other < time;
        if is_quieter || is_over && other < time {
            let is_possible = (other <= limit || is_over && other < time) && ledger.has_room(item, domain);
            let found = (is_possible, weight, -other, domain);
            if best.is_none_or(|best| (found.0, found.1, found.2) > (best.0, best.1, best.2)) {
                best = Some(found);
            }
        }
    }
    (best.map(|(.., domain)| domain), best.is_some_and(|(is_possible, ..)| is_possible))
}
