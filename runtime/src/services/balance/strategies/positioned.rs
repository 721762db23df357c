//! Objects by their positions: what geometric strategies have in common.
//!
//! 1. What has a position is cut by it: neighbours in space come to one domain, and domains of a host beside each other.
//! 2. What has none stays, unless its domain then has too much: [`refine`].
//! 3. A cut knows no room. What a domain has no room for stays at home, and what is too much then is refined away.

use super::domain::{Domain, Item};
use super::level::{Level, by_levels};
use super::refine::refine;
use super::room::settle;
use crate::model::loads::{Loads, Moves};

/// By how much the longest domain may exceed the average before what has no position moves.
const TOLERANCE: f64 = 1.02;

/// Spreads objects by a cut: `cut` takes items with positions and says where they go; the domains are in an order in which those of a host
/// follow each other.
pub(super) fn by_positions(loads: &Loads, moves: &mut Moves, cut: impl Fn(&[Item], &[Domain]) -> Vec<u32>) {
    let has_position = |item: &Item| loads.objects()[item.object as usize].position.is_some();
    by_levels(loads, moves, None, |level| {
        let mut places = level.places();
        let positions: Vec<usize> =
            (0..places.len()).filter(|item| has_position(&level.items[*item])).collect();
        let others: Vec<usize> =
            (0..places.len()).filter(|item| !has_position(&level.items[*item])).collect();
        let domains = occupied(level, &others);
        let order = level.by_host();
        let in_order: Vec<Domain> = order.iter().map(|domain| domains[*domain as usize]).collect();
        let items: Vec<Item> = positions.iter().map(|item| level.items[*item]).collect();
        let cut = cut(&items, &in_order);
        positions.iter().zip(cut).for_each(|(item, number)| places[*item] = order[number as usize]);
        let is_full = settle(level, &mut places);
        if is_full {
            return refine(level, places, level.limit(TOLERANCE));
        }
        if !others.is_empty() {
            let domains = occupied_by(&level.domains, &items, positions.iter().map(|item| places[*item]));
            let rest = level.with(domains, others.iter().map(|item| level.items[*item]).collect());
            let refined = refine(&rest, rest.places(), level.limit(TOLERANCE));
            others.iter().zip(refined).for_each(|(item, place)| places[*item] = place);
        }
        places
    });
}

/// The domains, with some items as a part of what does not move; those that are nowhere do not count yet.
fn occupied(level: &Level, items: &[usize]) -> Vec<Domain> {
    let stay: Vec<Item> = items.iter().map(|item| level.items[*item]).collect();
    occupied_by(&level.domains, &stay, stay.iter().map(|item| item.at))
}

fn occupied_by(domains: &[Domain], items: &[Item], places: impl Iterator<Item = u32>) -> Vec<Domain> {
    let mut domains = domains.to_vec();
    for (item, place) in items.iter().zip(places) {
        let Some(domain) = domains.get_mut(place as usize) else { continue };
        domain.fixed += item.load;
        if place != item.at {
            domain.room -= item.bytes;
        }
    }
    domains
}
