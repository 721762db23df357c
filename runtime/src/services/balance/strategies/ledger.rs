//! Ledgers: the work and the room of each domain while items are placed.
//!
//! Room is taken by what is not at home. What leaves its home makes none: it may leave after the others have come.

use super::domain::{Domain, Item};

/// What the domains of a level have to do, and the room that they have left.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    work: Vec<f64>,
    speed: Vec<f64>,
    room: Vec<u64>,
}

impl Ledger {
    /// That of domains on which is what does not move, and nothing else.
    pub(super) fn new(domains: &[Domain]) -> Self {
        Self {
            work: domains.iter().map(|domain| domain.fixed).collect(),
            speed: domains.iter().map(|domain| domain.speed).collect(),
            room: domains.iter().map(|domain| domain.room).collect(),
        }
    }

    /// That of domains with items on them. Those that are nowhere do not count.
    pub(super) fn with(domains: &[Domain], items: &[Item], places: &[u32]) -> Self {
        let mut ledger = Self::new(domains);
        for (item, place) in items.iter().zip(places) {
            if (*place as usize) < domains.len() {
                ledger.enter(item, *place);
            }
        }
        ledger
    }

    /// The time that a domain takes.
    #[inline]
    pub(super) fn time(&self, domain: u32) -> f64 {
        self.time_with(domain, 0.0)
    }

    /// The time that it would take with this much more work.
    #[inline]
    pub(super) fn time_with(&self, domain: u32, work: f64) -> f64 {
        (self.work[domain as usize] + work) / self.speed[domain as usize]
    }

    /// The work that it may still take before it takes this time; below zero if it takes longer already.
    #[inline]
    pub(super) fn spare(&self, domain: u32, time: f64) -> f64 {
        time * self.speed[domain as usize] - self.work[domain as usize]
    }

    /// Whether there is room for an item.
    #[inline]
    pub(super) fn has_room(&self, item: &Item, domain: u32) -> bool {
        item.at == domain || item.bytes <= self.room[domain as usize]
    }

    /// The bytes that may still come.
    pub(super) fn room(&self, domain: u32) -> u64 {
        self.room[domain as usize]
    }

    /// Places an item, which has room there.
    #[inline]
    pub(super) fn enter(&mut self, item: &Item, domain: u32) {
        self.work[domain as usize] += item.load;
        if item.at != domain {
            self.room[domain as usize] -= item.bytes;
        }
    }

    /// Takes an item away from where it was placed.
    #[inline]
    pub(super) fn leave(&mut self, item: &Item, domain: u32) {
        self.work[domain as usize] -= item.load;
        if item.at != domain {
            self.room[domain as usize] += item.bytes;
        }
    }

    /// How many domains there are.
    pub(super) fn domains(&self) -> u32 {
        self.work.len() as u32
    }
}
