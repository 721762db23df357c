//! Placement: where items are while they are moved one by one, and what that does to their domains.

use super::domain::{ELSEWHERE, Item};
use super::grouped::Grouped;
use super::lightest::Lightest;
use rustc_hash::FxHashMap;
use std::cmp::Ordering;

/// The places of items, and their domains.
pub(super) struct Placement<'a> {
    pub(super) items: &'a [Item],
    pub(super) places: Vec<u32>,
    pub(super) lightest: Lightest,
    /// The longest time that a domain is to take.
    pub(super) limit: f64,
}

impl Placement<'_> {
    /// The load of an item.
    pub(super) fn load(&self, item: u32) -> f64 {
        self.items[item as usize].load
    }

    /// By how much work a domain is over the limit; not above zero if it is not.
    pub(super) fn excess(&self, domain: u32) -> f64 {
        -self.lightest.ledger.spare(domain, self.limit)
    }

    /// Moves an item to a domain that has room for it.
    pub(super) fn move_to(&mut self, item: u32, domain: u32) {
        self.take_up(item);
        self.put_down(item, domain);
    }

    /// Takes an item away from where it is: it is nowhere then.
    pub(super) fn take_up(&mut self, item: u32) -> Homeless {
        let before = std::mem::replace(&mut self.places[item as usize], ELSEWHERE);
        self.lightest.leave(&self.items[item as usize], before);
        Homeless { item, before }
    }

    /// Puts an item that is nowhere on a domain that has room for it.
    pub(super) fn put_down(&mut self, item: u32, domain: u32) {
        self.lightest.enter(&self.items[item as usize], domain);
        self.places[item as usize] = domain;
    }

    /// Puts an item back where it was, or at home if others have taken its room meanwhile. Returns where it is now.
    pub(super) fn put_back(&mut self, Homeless { item, before }: Homeless) -> u32 {
        let home = self.items[item as usize].at;
        let has_room = self.lightest.ledger.has_room(&self.items[item as usize], before);
        let place = if has_room { before } else { home };
        self.put_down(item, place);
        place
    }

    /// The room that an item takes on a domain.
    pub(super) fn bytes_to(&self, item: u32, domain: u32) -> u64 {
        let item = &self.items[item as usize];
        if item.at == domain { 0 } else { item.bytes }
    }

    /// Whether an item is on a domain.
    pub(super) fn is_on(&self, item: u32, domain: u32) -> bool {
        self.places[item as usize] == domain
    }

    /// The items that are nowhere yet.
    pub(super) fn newcomers(&self) -> Vec<Homeless> {
        let newcomers = (0..self.items.len() as u32).filter(|item| self.is_on(*item, ELSEWHERE));
        newcomers.map(|item| Homeless { item, before: ELSEWHERE }).collect()
    }
}

/// An item in search of a place, and where it was.
#[derive(Clone, Copy, Debug)]
pub(super) struct Homeless {
    pub(super) item: u32,
    pub(super) before: u32,
}

/// Items by their places, looked up for a few domains while items move.
pub(super) struct Members<'a> {
    items: &'a [Item],
    before: Grouped,
    /// The items on a domain, the lightest first, and some that were there.
    looked_up: FxHashMap<u32, Vec<u32>>,
}

impl<'a> Members<'a> {
    pub(super) fn new(placement: &Placement<'a>) -> Self {
        let before = Grouped::new(&placement.places, placement.lightest.ledger.domains());
        Self { items: placement.items, before, looked_up: FxHashMap::default() }
    }

    /// Says that an item has come to a domain.
    pub(super) fn add(&mut self, item: u32, domain: u32) {
        let items = self.items;
        let list = self.list(domain);
        if let Err(position) = list.binary_search_by(|other| by_load(items, *other, item)) {
            list.insert(position, item);
        }
    }

    /// The items on a domain, the lightest first.
    pub(super) fn of(&mut self, domain: u32, placement: &Placement<'_>) -> &[u32] {
        let list = self.list(domain);
        list.retain(|item| placement.is_on(*item, domain));
        list
    }

    fn list(&mut self, domain: u32) -> &mut Vec<u32> {
        self.looked_up.entry(domain).or_insert_with(|| {
            let mut list = self.before.of(domain).to_vec();
            list.sort_unstable_by(|one, other| by_load(self.items, *one, *other));
            list
        })
    }
}

/// The lighter one first, and of equal ones that with the smaller number.
fn by_load(items: &[Item], one: u32, other: u32) -> Ordering {
    items[one as usize].load.total_cmp(&items[other as usize].load).then(one.cmp(&other))
}
