//! Refinement: only what is too much moves.
//!
//! 1. Each domain over the limit sheds what brings it below, at the least cost: bytes of state against gain ([`shed`](super::shed)).
//! 2. What all have shed is placed, the heaviest first, where it would be done soonest, if that is within the limit; else it goes back.
//! 3. Space grows less with each placement, so what went back was too heavy. In the next round lighter ones are shed instead, until nobody
//!    is over the limit or nothing has become better.
//! 4. Who is over the limit then exchanges heavy items for lighter ones ([`exchange`](super::exchange)).
//! 5. Who still is, the longest first, gives single items where that makes the longer of two domains shorter.

use super::domain::{ELSEWHERE, Item};
use super::exchange::{make_way, swap};
use super::grouped::{Grouped, sort_descending};
use super::ledger::Ledger;
use super::level::{Level, by_levels};
use super::lightest::{Lightest, bytes_min};
use super::placement::{Homeless, Members, Placement};
use super::shed::shed;
use crate::model::ids::PeId;
use crate::model::loads::{Loads, Moves};

/// The rounds of shedding and placing; four are enough mostly.
const ROUNDS: usize = 8;

/// Moves what is over `tolerance` times the average, and little else: `O(n)` for `n` objects, and `O(m log m)` for those that are on PEs
/// with too much.
pub(super) fn greedy_refine(loads: &Loads, moves: &mut Moves, tolerance: f64) {
    let refine_with = |moves: &mut Moves, upper: f64| {
        by_levels(loads, moves, None, |level| {
            refine(level, level.places(), level.limit_with(tolerance, upper))
        });
    };
    refine_with(moves, 0.5);
    if loads.nodes() > 1 && loads.nodes() < loads.pes() && moves.max() > within_reach(loads, tolerance) {
        // A node of ten PEs that is 1 % over has one object of a hundred too many, and its PE then has 10 % too much.
        let mut even = Moves::new(loads);
        refine_with(&mut even, 0.0);
        if even.max() < moves.max() {
            *moves = even;
        }
    }
}

/// The longest time that a plan is to have, up to rounding: what the tolerance allows, or what the heaviest object takes by itself.
fn within_reach(loads: &Loads, tolerance: f64) -> f64 {
    let quickest = (0..loads.pes()).map(|pe| loads.speed(PeId(pe))).fold(0.0, f64::max);
    let heaviest = loads.objects().iter().map(|object| object.load).fold(0.0, f64::max);
    f64::max(tolerance * loads.average(), heaviest / quickest) * (1.0 + 1e-6)
}

/// Refines places of a level's items, so that no domain takes longer than `limit`, as far as that can be.
pub(super) fn refine(level: &Level, places: Vec<u32>, limit: f64) -> Vec<u32> {
    let items = &level.items;
    let ledger = Ledger::with(&level.domains, items, &places);
    let lightest = Lightest::new(&level.domains, ledger, bytes_min(items));
    let mut placement = Placement { items, places, lightest, limit };
    let mut pool = placement.newcomers();
    let givers = Givers::new(&placement);
    if pool.is_empty() && givers.domains.is_empty() {
        return placement.places;
    }
    for _ in 0..ROUNDS {
        givers.each(&mut placement, |placement, giver, items| {
            let space = placement.lightest.spare(placement.limit);
            give(placement, giver, items, space, &mut pool);
        });
        if pool.is_empty() || !place(&mut placement, &mut pool) {
            break;
        }
    }
    // Others may be over the limit now: where newcomers found no better place.
    let givers = Givers::new(&placement).longest_first(&placement);
    if !givers.domains.is_empty() {
        let mut members = Members::new(&placement);
        givers.each(&mut placement, |placement, giver, items| {
            give(placement, giver, items, f64::INFINITY, &mut pool);
        });
        make_way(&mut placement, &mut members, pool);
        let givers = Givers::new(&placement).longest_first(&placement);
        swap(&mut placement, &mut members, givers.domains());
        Givers::new(&placement).longest_first(&placement).each(&mut placement, relieve);
    }
    placement.places
}

/// Domains that have too much, and the items that are on them.
struct Givers {
    domains: Vec<u32>,
    /// The items of each, by its number in `domains` as they were found.
    items: Grouped,
    /// Those numbers, in the order in which the domains are visited.
    order: Vec<u32>,
}

impl Givers {
    /// Those of a placement, in the order in which their items lie in memory.
    fn new(placement: &Placement<'_>) -> Self {
        let count = placement.lightest.ledger.domains();
        let domains: Vec<u32> = (0..count).filter(|domain| placement.excess(*domain) > 0.0).collect();
        let mut numbers = vec![ELSEWHERE; count as usize];
        domains.iter().zip(0..).for_each(|(domain, number)| numbers[*domain as usize] = number);
        let number = |place: &u32| numbers.get(*place as usize).copied().unwrap_or(ELSEWHERE);
        let groups: Vec<u32> = placement.places.iter().map(number).collect();
        let items = Grouped::new(&groups, domains.len() as u32);
        Self { order: (0..domains.len() as u32).collect(), domains, items }
    }

    /// The same, the one that takes longest first.
    fn longest_first(mut self, placement: &Placement<'_>) -> Self {
        let time = |number: &u32| placement.lightest.ledger.time(self.domains[*number as usize]);
        self.order.sort_by(|one, other| time(other).total_cmp(&time(one)));
        self
    }

    /// The domains, in the order in which they are visited.
    fn domains(&self) -> impl ExactSizeIterator<Item = u32> {
        self.order.iter().map(|number| self.domains[*number as usize])
    }

    /// Visits those that have too much now.
    fn each<'a>(
        &self,
        placement: &mut Placement<'a>,
        mut visit: impl FnMut(&mut Placement<'a>, u32, &[u32]),
    ) {
        for number in &self.order {
            let giver = self.domains[*number as usize];
            if placement.excess(giver) > 0.0 {
                visit(placement, giver, self.items.of(*number));
            }
        }
    }
}

/// Has a giver shed into the pool what it has too much, of what weighs no more than there is space for.
fn give(placement: &mut Placement<'_>, giver: u32, items: &[u32], space: f64, pool: &mut Vec<Homeless>) {
    let is_movable = |item: &u32| {
        let load = placement.load(*item);
        placement.is_on(*item, giver) && load > 0.0 && load <= space
    };
    let movable: Vec<u32> = items.iter().copied().filter(is_movable).collect();
    for item in shed(placement.items, movable, placement.excess(giver)) {
        pool.push(placement.take_up(item));
    }
}

/// Places what is in the pool, and empties it. Returns whether anything has found a new place.
fn place(placement: &mut Placement<'_>, pool: &mut Vec<Homeless>) -> bool {
    let items = placement.items;
    sort_descending(pool, |homeless| (items[homeless.item as usize].load, homeless.item));
    // Looked up before, all at once: see `greedy`.
    let looked_up: Vec<Item> = pool.iter().map(|homeless| items[homeless.item as usize]).collect();
    let mut has_moved = false;
    for (homeless, item) in pool.drain(..).zip(&looked_up) {
        match placement.lightest.best(item) {
            Some((domain, time)) if time <= placement.limit || homeless.before == ELSEWHERE => {
                has_moved |= domain != homeless.before;
                placement.put_down(homeless.item, domain);
            }
            _ => {
                placement.put_back(homeless);
            }
        }
    }
    has_moved
}

/// Has a giver that is still over the limit give single items, the heaviest first: those after which it is still the longer of two domains, then
/// those that make the longer one at least shorter.
fn relieve(placement: &mut Placement<'_>, giver: u32, items: &[u32]) {
    let mut order: Vec<u32> = items.iter().copied().filter(|item| placement.is_on(*item, giver)).collect();
    sort_descending(&mut order, |item| (placement.load(*item), *item));
    for is_last in [false, true] {
        order.retain(|item| !is_given(placement, giver, *item, is_last));
    }
}

/// Gives an item to another domain, if the giver is over the limit and the other one stays below the giver: as it is then, or on the last look as
/// it is now.
fn is_given(placement: &mut Placement<'_>, giver: u32, position: u32, is_last: bool) -> bool {
    let item = &placement.items[position as usize];
    let ledger = &placement.lightest.ledger;
    let (time, without) = (ledger.time(giver), ledger.time_with(giver, -item.load));
    if time <= placement.limit || item.load == 0.0 {
        return false;
    }
    let place = placement.lightest.best(item).filter(|(domain, _)| *domain != giver);
    let Some((domain, _)) = place.filter(|(_, other)| *other <= without || is_last && *other < time) else {
        return false;
    };
    placement.move_to(position, domain);
    true
}
