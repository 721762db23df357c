//! Objects by their positions: what geometric strategies have in common.
//!
//! 1. What has a position is cut by it: neighbours in space come to one domain, and domains of a host beside each other; what is
//!    there already stays there, if domains are alike.
//! 2. What has none stays, unless its domain then has too much: [`refine`].
//! 3. A cut knows no room. What a domain has no room for stays at home, and what is too much then is refined away.

use super::domain::{Domain, Item};
use super::ledger::settle;
use super::level::by_levels;
use super::refine::refine;
use super::relabel::relabel;
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
        let rest: Vec<Item> = others.iter().map(|item| level.items[*item]).collect();
        let domains = occupied(&level.domains, &rest, rest.iter().map(|item| item.at));
        let part = level.with(domains, positions.iter().map(|item| level.items[*item]).collect());
        let order = part.by_host();
        let in_order: Vec<Domain> = order.iter().map(|domain| part.domains[*domain as usize]).collect();
        let mut cut: Vec<u32> =
            cut(&part.items, &in_order).iter().map(|number| order[*number as usize]).collect();
        relabel(&part, &mut cut);
        positions.iter().zip(&cut).for_each(|(item, domain)| places[*item] = *domain);
        if settle(level, &mut places) {
            return refine(level, places, level.limit(TOLERANCE));
        }
        if !others.is_empty() {
            let rest = level.with(occupied(&level.domains, &part.items, cut.into_iter()), rest);
            let refined = refine(&rest, rest.places(), level.limit(TOLERANCE));
            others.iter().zip(refined).for_each(|(item, place)| places[*item] = place);
        }
        places
    });
}

/// The domains, with some items as a part of what does not move; those that are nowhere do not count.
fn occupied(domains: &[Domain], items: &[Item], places: impl Iterator<Item = u32>) -> Vec<Domain> {
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
