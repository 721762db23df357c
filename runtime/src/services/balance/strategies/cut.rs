//! Cuts: the calls between domains, and moves of single items that make them fewer.

use super::domain::Item;
use super::graph::{Graph, Neighbour};
use super::ledger::Ledger;
use super::level::Level;

/// The looks at all items, or at those whose neighbours have moved.
const PASSES: usize = 6;

/// How much a vertex calls those of each domain that it calls at all.
#[derive(Default)]
pub(super) struct Affinity {
    weights: Vec<(u32, f32)>,
}

impl Affinity {
    /// Looks at a vertex.
    pub(super) fn look(&mut self, around: &[Neighbour], places: &[u32]) {
        self.weights.clear();
        for neighbour in around {
            let place = places[neighbour.vertex as usize];
            match self.weights.iter_mut().find(|(domain, _)| *domain == place) {
                Some((_, weight)) => *weight += neighbour.weight,
                None => self.weights.push((place, neighbour.weight)),
            }
        }
    }

    /// How much it calls those of a domain.
    pub(super) fn to(&self, domain: u32) -> f32 {
        self.weights.iter().find(|(other, _)| *other == domain).map_or(0.0, |(_, weight)| *weight)
    }

    /// The domains that it calls, and how much.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u32, f32)> {
        self.weights.iter().copied()
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
    let mut affinity = Affinity::default();
    let mut is_due = vec![true; items.len()];
    for _ in 0..PASSES {
        let mut has_moved = false;
        for vertex in 0..items.len() as u32 {
            if !std::mem::take(&mut is_due[vertex as usize]) {
                continue;
            }
            let around = graph.around(vertex);
            affinity.look(around, places);
            if let Some(domain) =
                better(&items[vertex as usize], &affinity, places[vertex as usize], ledger, limit)
            {
                ledger.leave(&items[vertex as usize], places[vertex as usize]);
                ledger.enter(&items[vertex as usize], domain);
                places[vertex as usize] = domain;
                let neighbours = around.iter().map(|neighbour| neighbour.vertex as usize);
                neighbours.filter(|other| *other < items.len()).for_each(|other| is_due[other] = true);
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
}

/// The domain to which an item had better move, if there is one.
fn better(item: &Item, affinity: &Affinity, place: u32, ledger: &Ledger, limit: f64) -> Option<u32> {
    let (mine, time) = (affinity.to(place), ledger.time(place));
    let is_over = time > limit;
    let others = affinity.iter().filter(|(domain, _)| *domain != place && ledger.has_room(item, *domain));
    let fits = others.filter_map(|(domain, weight)| {
        let other = ledger.time_with(domain, item.load);
        let is_better = match is_over {
            true => other < time && item.load > 0.0,
            false => weight > mine || weight == mine && other < time,
        };
        ((is_over || other <= limit) && is_better).then_some((domain, weight, other))
    });
    let best = fits.min_by(|one, other| {
        other.1.total_cmp(&one.1).then(one.2.total_cmp(&other.2)).then(one.0.cmp(&other.0))
    });
    best.map(|(domain, ..)| domain)
}
