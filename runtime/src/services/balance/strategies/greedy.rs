//! Greedy: the heaviest object to the lightest PE, then the next one, as if nobody were anywhere yet.
//!
//! The best balance of all, and nearly everything moves. What takes no time stays.

use super::domain::{ELSEWHERE, Item};
use super::grouped::sort_descending;
use super::ledger::Ledger;
use super::level::{Level, by_levels};
use super::lightest::{Lightest, bytes_min};
use crate::model::loads::{Loads, Moves};

/// Spreads all objects anew: `O(n log n)` for `n` objects.
pub(super) fn greedy(loads: &Loads, moves: &mut Moves) {
    by_levels(loads, moves, None, spread);
}

fn spread(level: &Level) -> Vec<u32> {
    let mut places = level.places();
    let mut order: Vec<u32> = (0..level.items.len() as u32).collect();
    sort_descending(&mut order, |position| (level.items[*position as usize].load, *position));
    let ledger = Ledger::new(&level.domains);
    let mut lightest = Lightest::new(&level.domains, ledger, bytes_min(&level.items));
    // Looked up one after another they would be waited for one after another: a million of them lie in no cache.
    let items: Vec<Item> = order.iter().map(|position| level.items[*position as usize]).collect();
    for (position, item) in order.iter().zip(&items) {
        if item.load == 0.0 && item.at != ELSEWHERE {
            continue;
        }
        if let Some((domain, _)) = lightest.best(item) {
            lightest.enter(item, domain);
            places[*position as usize] = domain;
        }
    }
    places
}
