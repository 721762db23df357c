//! Greedy: the heaviest object to the lightest PE, then the next one, as if nobody were anywhere yet.
//!
//! The best balance of all, and nearly everything moves. What takes no time stays.

use super::domain::ELSEWHERE;
use super::ledger::Ledger;
use super::level::{Level, by_levels};
use super::lightest::{Lightest, bytes_min};
use super::order::sort_descending;
use crate::model::loads::{Loads, Moves};

/// Spreads all objects anew: `O(n log n)` for `n` objects.
pub(super) fn greedy(loads: &Loads, moves: &mut Moves) {
    by_levels(loads, moves, None, spread);
}

fn spread(level: &Level) -> Vec<u32> {
    let mut places = level.places();
    let mut order: Vec<u32> = (0..level.items.len() as u32).collect();
    sort_descending(&mut order, &level.items);
    let ledger = Ledger::new(&level.domains);
    let mut lightest = Lightest::new(&level.domains, ledger, bytes_min(&level.items));
    for position in order {
        let item = &level.items[position as usize];
        if item.load == 0.0 && item.at != ELSEWHERE {
            continue;
        }
        if let Some((domain, _)) = lightest.best(item) {
            lightest.enter(item, domain);
            places[position as usize] = domain;
        }
    }
    places
}
