//! Ledgers: the work and the room of each domain while items are placed, and what is sent home because its place has none for it.
//!
//! Room is taken by what is not at home. What leaves its home makes none: it may leave after the others have come.

use super::domain::{Domain, Item};
use super::level::Level;

/// What the domains of a level have to do, and the room that they have left.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    accounts: Vec<Account>,
}

/// What is looked at together lies together: accounts are looked up in any order.
#[derive(Clone, Copy, Debug)]
struct Account {
    work: f64,
    /// What a unit of work takes.
    pace: f64,
    room: u64,
}

impl Ledger {
    /// That of domains on which is what does not move, and nothing else.
    pub(super) fn new(domains: &[Domain]) -> Self {
        let account =
            |domain: &Domain| Account { work: domain.fixed, pace: 1.0 / domain.speed, room: domain.room };
        Self { accounts: domains.iter().map(account).collect() }
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

    /// How many domains there are.
    pub(super) fn domains(&self) -> u32 {
        self.accounts.len() as u32
    }

    /// The time that a domain takes.
    #[inline]
    pub(super) fn time(&self, domain: u32) -> f64 {
        self.time_with(domain, 0.0)
    }

    /// The time that it would take with this much more work.
    #[inline]
    pub(super) fn time_with(&self, domain: u32, work: f64) -> f64 {
        let account = &self.accounts[domain as usize];
        (account.work + work) * account.pace
    }

    /// The work that it may still take before it takes this time; below zero if it takes longer already.
    #[inline]
    pub(super) fn spare(&self, domain: u32, time: f64) -> f64 {
        let account = &self.accounts[domain as usize];
        time / account.pace - account.work
    }

    /// Whether there is room for an item.
    #[inline]
    pub(super) fn has_room(&self, item: &Item, domain: u32) -> bool {
        item.at == domain || item.bytes <= self.accounts[domain as usize].room
    }

    /// The bytes that may still come.
    #[inline]
    pub(super) fn room(&self, domain: u32) -> u64 {
        self.accounts[domain as usize].room
    }

    /// Places an item, which has room there.
    #[inline]
    pub(super) fn enter(&mut self, item: &Item, domain: u32) {
        let account = &mut self.accounts[domain as usize];
        account.work += item.load;
        if item.at != domain {
            account.room -= item.bytes;
        }
    }

    /// Takes an item away from where it was placed.
    #[inline]
    pub(super) fn leave(&mut self, item: &Item, domain: u32) {
        let account = &mut self.accounts[domain as usize];
        account.work -= item.load;
        if item.at != domain {
            account.room += item.bytes;
        }
    }
}

/// Sends items home for which their places have no room: those that weigh least for their bytes. Returns whether there are any.
pub(super) fn settle(level: &Level, places: &mut [u32]) -> bool {
    let mut coming: Vec<usize> =
        (0..places.len()).filter(|item| level.items[*item].at != places[*item]).collect();
    let mut bytes = vec![0; level.domains.len()];
    coming.iter().for_each(|item| bytes[places[*item] as usize] += level.items[*item].bytes);
    if level.domains.iter().zip(bytes).all(|(domain, bytes)| bytes <= domain.room) {
        return false;
    }
    let mut ledger = Ledger::new(&level.domains);
    let gain = |item: &usize| level.items[*item].load / (level.items[*item].bytes as f64 + 1.0);
    coming.sort_by(|one, other| gain(other).total_cmp(&gain(one)).then(one.cmp(other)));
    let mut is_full = false;
    for number in coming {
        let item = &level.items[number];
        if ledger.has_room(item, places[number]) {
            ledger.enter(item, places[number]);
        } else {
            places[number] = item.at;
            is_full = true;
        }
    }
    is_full
}
