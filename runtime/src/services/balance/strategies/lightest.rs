//! Lightest domains: where an item would be done with soonest.
//!
//! 1. Domains of like speed are a class with a tournament of its own: the lightest of a class is its best, whatever the item weighs. So
//!    what is slow and empty is not taken for what is fast and nearly so.
//! 2. A domain that has room for no item at all is out of its tournament. One that has none for this item steps aside for it; after
//!    [`TRIES`] of them the item is told that there is no place.

use super::domain::{Domain, Item};
use super::ledger::Ledger;
use crate::model::loads::Tournament;

/// How many domains of a class may lack the room for an item before it gives up: where room is that scarce it stays at home.
const TRIES: usize = 8;

/// The most classes; and by how much speeds differ within one if that is enough.
const CLASSES: f64 = 16.0;
const ALIKE: f64 = 1.03;

/// Domains, of which the lightest are found quickly.
pub(super) struct Lightest {
    pub(super) ledger: Ledger,
    classes: Vec<Class>,
    /// The class of each domain and its position there.
    seats: Vec<(u32, u32)>,
    /// The bytes of the smallest item.
    bytes_min: u64,
}

/// Domains of like speed.
struct Class {
    domains: Vec<u32>,
    times: Tournament,
}

impl Lightest {
    /// The lightest of these domains, for items of which the smallest has so many bytes.
    pub(super) fn new(domains: &[Domain], ledger: Ledger, bytes_min: u64) -> Self {
        let mut by_speed: Vec<u32> = (0..domains.len() as u32).collect();
        let speed = |domain: &u32| domains[*domain as usize].speed;
        by_speed.sort_by(|one, other| speed(one).total_cmp(&speed(other)));
        let [slowest, fastest] = [by_speed.first(), by_speed.last()].map(|domain| domain.map_or(1.0, speed));
        let alike = f64::max(ALIKE, (fastest / slowest).powf(1.0 / CLASSES));
        let mut seats = vec![(0, 0); domains.len()];
        let is_alike = |one: &u32, other: &u32| {
            (speed(other) / slowest).log(alike).floor() == (speed(one) / slowest).log(alike).floor()
        };
        let mut classes = Vec::new();
        for members in by_speed.chunk_by(is_alike) {
            let mut members = members.to_vec();
            members.sort_unstable();
            for (position, domain) in members.iter().enumerate() {
                seats[*domain as usize] = (classes.len() as u32, position as u32);
            }
            let key = |domain: &u32| key(&ledger, *domain, bytes_min);
            let times = Tournament::new(members.iter().map(key));
            classes.push(Class { domains: members, times });
        }
        Self { ledger, classes, seats, bytes_min }
    }

    /// The domain that would be done soonest if it took an item for which it has room, and when that would be. The item's home wins where
    /// it is as good.
    pub(super) fn best(&mut self, item: &Item) -> Option<(u32, f64)> {
        let ledger = &self.ledger;
        let mut best = None;
        if (item.at as usize) < self.seats.len() {
            best = Some((item.at, ledger.time_with(item.at, item.load)));
        }
        for class in &mut self.classes {
            let Some(domain) = class.lightest_with_room(ledger, item) else { continue };
            let time = ledger.time_with(domain, item.load);
            if best.is_none_or(|(_, soonest)| time < soonest) {
                best = Some((domain, time));
            }
        }
        best
    }

    /// The most work that some domain may take and be done by `time`.
    pub(super) fn spare(&self, time: f64) -> f64 {
        let open = |class: &Class| {
            let position = class.times.least();
            (class.times.number(position) < f64::INFINITY).then(|| class.domains[position])
        };
        self.classes.iter().filter_map(open).map(|domain| self.ledger.spare(domain, time)).fold(0.0, f64::max)
    }

    /// Places an item.
    pub(super) fn enter(&mut self, item: &Item, domain: u32) {
        self.ledger.enter(item, domain);
        self.update(domain);
    }

    /// Takes an item away from where it was placed.
    pub(super) fn leave(&mut self, item: &Item, domain: u32) {
        self.ledger.leave(item, domain);
        self.update(domain);
    }

    fn update(&mut self, domain: u32) {
        let (class, position) = self.seats[domain as usize];
        let key = key(&self.ledger, domain, self.bytes_min);
        self.classes[class as usize].times.set(position as usize, key);
    }
}

/// The time by which a domain competes; infinite if it has room for nobody.
fn key(ledger: &Ledger, domain: u32, bytes_min: u64) -> f64 {
    if ledger.room(domain) < bytes_min { f64::INFINITY } else { ledger.time(domain) }
}

impl Class {
    /// The lightest domain of the class that has room for an item, if one of the first few has.
    fn lightest_with_room(&mut self, ledger: &Ledger, item: &Item) -> Option<u32> {
        let first = self.times.least();
        if self.times.number(first) == f64::INFINITY {
            return None;
        }
        if ledger.has_room(item, self.domains[first]) {
            return Some(self.domains[first]);
        }
        let (mut aside, mut found) = (Vec::with_capacity(TRIES), None);
        while found.is_none() && aside.len() < TRIES {
            let position = self.times.least();
            let time = self.times.number(position);
            if time == f64::INFINITY {
                break;
            }
            found = Some(self.domains[position]).filter(|domain| ledger.has_room(item, *domain));
            aside.push((position, time));
            self.times.set(position, f64::INFINITY);
        }
        aside.into_iter().for_each(|(position, time)| self.times.set(position, time));
        found
    }
}

/// The bytes of the smallest item.
pub(super) fn bytes_min(items: &[Item]) -> u64 {
    items.iter().map(|item| item.bytes).min().unwrap_or_default()
}
