//! Refinement: only what is too much moves.
//!
//! 1. Each domain over the limit sheds what brings it below, at the least cost: bytes of state against gain ([`shed`](super::shed)).
//! 2. What all have shed is placed, the heaviest first, where it would be done soonest, if that is within the limit; else it goes back.
//! 3. Space grows less with each placement, so what went back was too heavy. In the next round lighter ones are shed instead, until nobody
//!    is over the limit or nothing has become better.
//! 4. Who is over the limit then, the longest first, gives single items where that makes the longer of two domains shorter.

use super::domain::{ELSEWHERE, Item};
use super::grouped::Grouped;
use super::ledger::Ledger;
use super::level::{Level, by_levels};
use super::lightest::{Lightest, bytes_min};
use super::order::sort_descending;
use super::shed::shed;
use crate::model::loads::{Loads, Moves};

/// The rounds of shedding and placing; four are enough mostly.
const ROUNDS: usize = 8;

/// Moves what is over `tolerance` times the average, and nothing else: `O(n)` for `n` objects, and `O(m log m)` for those that are on PEs
/// with too much.
pub(super) fn greedy_refine(loads: &Loads, moves: &mut Moves, tolerance: f64) {
    by_levels(loads, moves, None, |level| refine(level, level.places(), level.limit(tolerance)));
}

/// Refines places of a level's items, so that no domain takes longer than `limit`, as far as that can be.
pub(super) fn refine(level: &Level, places: Vec<u32>, limit: f64) -> Vec<u32> {
    let items = &level.items;
    let ledger = Ledger::with(&level.domains, items, &places);
    let mut pool: Vec<u32> =
        (0..items.len() as u32).filter(|item| places[*item as usize] == ELSEWHERE).collect();
    let is_over = |domain: &u32| ledger.time(*domain) > limit;
    let mut over: Vec<u32> = (0..level.domains.len() as u32).filter(is_over).collect();
    over.sort_by(|one, other| ledger.time(*other).total_cmp(&ledger.time(*one)));
    if pool.is_empty() && over.is_empty() {
        return places;
    }
    let givers = Givers::new(level, &places, over);
    let lightest = Lightest::new(&level.domains, ledger, bytes_min(items));
    let mut refinement = Refinement { items, places, lightest, limit };
    for _ in 0..ROUNDS {
        givers.each(|giver, items| refinement.shed(giver, items, &mut pool));
        if pool.is_empty() || !refinement.place(&mut pool) {
            break;
        }
    }
    givers.each(|giver, items| refinement.relieve(giver, items));
    refinement.places
}

/// Domains that had too much at the beginning, and the items that were on them.
struct Givers {
    domains: Vec<u32>,
    items: Grouped,
}

impl Givers {
    fn new(level: &Level, places: &[u32], domains: Vec<u32>) -> Self {
        let mut numbers = vec![ELSEWHERE; level.domains.len()];
        domains.iter().zip(0..).for_each(|(domain, number)| numbers[*domain as usize] = number);
        let number = |place: &u32| numbers.get(*place as usize).copied().unwrap_or(ELSEWHERE);
        let groups: Vec<u32> = places.iter().map(number).collect();
        let items = Grouped::new(&groups, domains.len() as u32);
        Self { domains, items }
    }

    fn each(&self, mut visit: impl FnMut(u32, &[u32])) {
        self.domains.iter().zip(0..).for_each(|(domain, number)| visit(*domain, self.items.of(number)));
    }
}

/// A refinement under way.
struct Refinement<'a> {
    items: &'a [Item],
    places: Vec<u32>,
    lightest: Lightest,
    limit: f64,
}

impl Refinement<'_> {
    /// Has a giver shed what it has too much into the pool, of what would find a place now.
    fn shed(&mut self, giver: u32, items: &[u32], pool: &mut Vec<u32>) {
        let excess = -self.lightest.ledger.spare(giver, self.limit);
        if excess <= 0.0 {
            return;
        }
        let space = self.lightest.spare(self.limit);
        let is_movable = |item: &u32| {
            let load = self.items[*item as usize].load;
            self.places[*item as usize] == giver && load > 0.0 && load <= space
        };
        let movable: Vec<u32> = items.iter().copied().filter(is_movable).collect();
        for item in shed(self.items, movable, excess) {
            self.lightest.leave(&self.items[item as usize], giver);
            pool.push(item);
        }
    }

    /// Places what is in the pool, and empties it. Returns whether anything has found a new place.
    fn place(&mut self, pool: &mut Vec<u32>) -> bool {
        sort_descending(pool, self.items);
        let mut has_moved = false;
        for position in pool.drain(..) {
            let (item, before) = (&self.items[position as usize], self.places[position as usize]);
            let place = match self.lightest.best(item) {
                Some((domain, time)) if time <= self.limit || before == ELSEWHERE => domain,
                // What came from its home may find its place here taken meanwhile.
                _ if self.lightest.ledger.has_room(item, before) => before,
                _ => item.at,
            };
            has_moved |= place != before;
            self.lightest.enter(item, place);
            self.places[position as usize] = place;
        }
        has_moved
    }

    /// Has a giver that is still over the limit give single items, the heaviest first: those after which it is still the longer of two
    /// domains, then those that make the longer one at least shorter.
    fn relieve(&mut self, giver: u32, items: &[u32]) {
        if self.lightest.ledger.time(giver) <= self.limit {
            return;
        }
        let mut order: Vec<u32> =
            items.iter().copied().filter(|item| self.places[*item as usize] == giver).collect();
        sort_descending(&mut order, self.items);
        for is_last in [false, true] {
            order.retain(|position| !self.is_given(giver, *position, is_last));
        }
    }

    /// Gives an item to another domain, if the giver is over the limit and the other one stays below the giver: as it is then, or on the
    /// last look as it is now.
    fn is_given(&mut self, giver: u32, position: u32, is_last: bool) -> bool {
        let item = &self.items[position as usize];
        let ledger = &self.lightest.ledger;
        let (time, without) = (ledger.time(giver), ledger.time_with(giver, -item.load));
        if time <= self.limit || item.load == 0.0 {
            return false;
        }
        let place = self.lightest.best(item).filter(|(domain, _)| *domain != giver);
        let Some((domain, _)) = place.filter(|(_, other)| *other <= without || is_last && *other < time)
        else {
            return false;
        };
        self.lightest.leave(item, giver);
        self.lightest.enter(item, domain);
        self.places[position as usize] = domain;
        true
    }
}
