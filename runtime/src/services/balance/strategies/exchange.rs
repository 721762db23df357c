//! Exchanges: what finds no place by itself takes that of lighter items.
//!
//! Space lies about in pieces that are smaller than what is to be placed. So
//! 1. an item that fits nowhere goes where the least is to do, and what is lighter makes way and looks for a place in turn;
//! 2. who is over the limit by little gives an item and takes a lighter one for it.

use super::placement::{Homeless, Members, Placement};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// What makes way is lighter than this part of what it makes way for: so it all ends.
const LIGHTER: f64 = 0.8;

/// The light domains on which an item looks for a place beside the lightest one.
const CANDIDATES: usize = 8;

/// The domains with which one exchanges before it is left as it is.
const TAKERS: usize = 128;

/// The domains in a row with which there is nothing to exchange, after which there is nothing to be hoped for: what is too much is one item.
const IN_VAIN: usize = 8;

/// The items of a domain that are looked at for an exchange. Where there are more, single moves fill all space.
const LOOKED_AT: usize = 32;

/// The part of what is too much, or of the space for it, that an exchange is to bring at least.
const GAIN_MIN: f64 = 1e-3;

/// Items in search of a place, the heaviest first.
struct Queued {
    load: f64,
    homeless: Homeless,
}

impl PartialEq for Queued {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Queued {}

impl PartialOrd for Queued {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Queued {
    fn cmp(&self, other: &Self) -> Ordering {
        self.load.total_cmp(&other.load).then(other.homeless.item.cmp(&self.homeless.item))
    }
}

/// Places items that were taken up, the heaviest first; others make way where there is no place.
pub(super) fn make_way(placement: &mut Placement<'_>, members: &mut Members<'_>, pool: Vec<Homeless>) {
    let queued = |placement: &Placement<'_>, homeless: Homeless| Queued {
        load: placement.load(homeless.item),
        homeless,
    };
    let mut queue: BinaryHeap<Queued> =
        pool.into_iter().map(|homeless| queued(placement, homeless)).collect();
    let light = light_domains(placement, CANDIDATES * queue.len());
    let mut candidates = light.iter().copied().cycle();
    while let Some(Queued { homeless, .. }) = queue.pop() {
        let item = homeless.item;
        let best = placement.lightest.best(&placement.items[item as usize]);
        let place = match best {
            Some((domain, time)) if time <= placement.limit => Some((domain, Vec::new())),
            _ => {
                let domains =
                    best.map(|(domain, _)| domain).into_iter().chain(candidates.by_ref().take(CANDIDATES));
                let mut domains = domains.filter(|domain| {
                    placement.lightest.ledger.has_room(&placement.items[item as usize], *domain)
                });
                domains.find_map(|domain| Some((domain, in_the_way(placement, members, item, domain)?)))
            }
        };
        let Some((domain, others)) = place else {
            let place = placement.put_back(homeless);
            members.add(item, place);
            continue;
        };
        for other in others {
            let homeless = placement.take_up(other);
            queue.push(queued(placement, homeless));
        }
        placement.put_down(item, domain);
        members.add(item, domain);
    }
}

/// The domains that take the shortest time, so many at most.
fn light_domains(placement: &Placement<'_>, count: usize) -> Vec<u32> {
    let mut domains: Vec<u32> =
        (0..placement.lightest.ledger.domains()).filter(|domain| placement.excess(*domain) < 0.0).collect();
    let time = |domain: &u32| placement.lightest.ledger.time(*domain);
    domains.sort_by(|one, other| time(one).total_cmp(&time(other)).then(one.cmp(other)));
    domains.truncate(count);
    domains
}

/// The items of a domain that have to make way for one, if it can have its place at all: within the limit, or, if it is over the limit by itself,
/// alone.
fn in_the_way(
    placement: &Placement<'_>,
    members: &mut Members<'_>,
    item: u32,
    domain: u32,
) -> Option<Vec<u32>> {
    let load = placement.load(item);
    let mut spare = placement.lightest.ledger.spare(domain, placement.limit);
    let (mut others, mut heavier) = (Vec::new(), 0);
    // What takes no time is in nobody's way.
    for other in members.of(domain, placement).iter().rev().filter(|other| placement.load(**other) > 0.0) {
        if spare >= load {
            break;
        }
        if placement.load(*other) < LIGHTER * load {
            spare += placement.load(*other);
            others.push(*other);
        } else {
            heavier += 1;
        }
    }
    (spare >= load || heavier == 0).then_some(others)
}

/// Has each giver exchange items with some of the lightest domains, until it is no longer over the limit or gains nothing.
pub(super) fn swap(
    placement: &mut Placement<'_>,
    members: &mut Members<'_>,
    givers: impl ExactSizeIterator<Item = u32>,
) {
    let takers = light_domains(placement, TAKERS * givers.len());
    // Each begins with others, so that they do not all find the first ones full.
    for (number, giver) in givers.enumerate() {
        let others = takers.iter().cycle().skip(number * TAKERS % takers.len().max(1));
        let mut in_vain = 0;
        for taker in others.take(TAKERS.min(takers.len())) {
            if placement.excess(giver) <= 0.0 || in_vain == IN_VAIN {
                break;
            }
            in_vain += 1;
            while let Some((item, others)) = trade(placement, members, giver, *taker) {
                placement.take_up(item);
                for other in others {
                    placement.move_to(other, giver);
                    members.add(other, giver);
                }
                placement.put_down(item, *taker);
                members.add(item, *taker);
                in_vain = 0;
            }
        }
    }
}

/// An item of a giver and those of a taker that go back for it: after the exchange the taker has no more than it has space for, and the giver just no
/// excess any more, or else as little as can be.
fn trade(
    placement: &Placement<'_>,
    members: &mut Members<'_>,
    giver: u32,
    taker: u32,
) -> Option<(u32, Vec<u32>)> {
    let [excess, space] = [placement.excess(giver), -placement.excess(taker)];
    let gain_min = GAIN_MIN * excess.max(space);
    if excess <= 0.0 || space <= gain_min {
        return None;
    }
    let ledger = &placement.lightest.ledger;
    let mut heaviest = |domain: u32, to: u32| -> Vec<(f64, u32)> {
        let has_room = |item: &&u32| ledger.has_room(&placement.items[**item as usize], to);
        let items = members.of(domain, placement).iter().rev().filter(has_room).take(LOOKED_AT);
        items.map(|item| (placement.load(*item), *item)).collect()
    };
    let (mine, theirs) = (heaviest(giver, taker), heaviest(taker, giver));
    let mut best: Option<(f64, u32, Vec<u32>)> = None;
    for (load, item) in mine {
        // Those that go back begin with another one each time: the heaviest first, or the next one, or in the end none.
        for first in 0..=theirs.len() {
            let (mut gain, mut back, mut room) = (load, Vec::new(), ledger.room(giver));
            for (other, number) in &theirs[first..] {
                let bytes = placement.bytes_to(*number, giver);
                let is_wanted = gain > space || back.is_empty() && gain > excess;
                if is_wanted && gain - other >= f64::min(excess, space / 2.0) && bytes <= room {
                    gain -= other;
                    room -= bytes;
                    back.push(*number);
                }
            }
            let is_better = |best: f64| match (gain >= excess, best >= excess) {
                (true, true) => gain < best,
                (is_enough, was_enough) => is_enough && !was_enough || is_enough == was_enough && gain > best,
            };
            if gain <= space && gain > gain_min && best.as_ref().is_none_or(|(best, ..)| is_better(*best)) {
                best = Some((gain, item, back));
            }
        }
    }
    best.map(|(_, item, back)| (item, back))
}
