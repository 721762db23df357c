//! Labels of parts: each part goes to the domain on which most of it is already.
//!
//! Parts were made for domains; those whose domains can do as much may be exchanged, unless they call what is pinned there.

use super::domain::ELSEWHERE;
use super::ledger::Ledger;
use super::level::Level;

/// By how much of the average domains may differ that can do as much.
const ALIKE: f64 = 0.02;

/// Exchanges the domains of whole parts, so that little moves.
pub(super) fn relabel(level: &Level, parts: &mut [u32]) {
    let mut shared: Vec<(u32, u32, f64)> = Vec::with_capacity(parts.len());
    for (item, part) in level.items.iter().zip(parts.iter()).filter(|(item, _)| item.at != ELSEWHERE) {
        shared.push((*part, item.at, item.cost()));
    }
    shared.sort_unstable_by_key(|(part, domain, _)| (*part, *domain));
    shared.dedup_by(|next, kept| {
        let is_same = (next.0, next.1) == (kept.0, kept.1);
        kept.2 += if is_same { next.2 } else { 0.0 };
        is_same
    });
    shared.sort_by(|one, other| other.2.total_cmp(&one.2));
    let classes = classes(level);
    let (mut label, mut part_of) =
        (vec![ELSEWHERE; level.domains.len()], vec![ELSEWHERE; level.domains.len()]);
    for part in bound(level, parts) {
        (label[part as usize], part_of[part as usize]) = (part, part);
    }
    for (part, domain, _) in shared {
        let is_free = label[part as usize] == ELSEWHERE && part_of[domain as usize] == ELSEWHERE;
        if is_free && classes[part as usize] == classes[domain as usize] {
            (label[part as usize], part_of[domain as usize]) = (domain, part);
        }
    }
    // In each class as many parts as domains are left.
    let rest = |of: &[u32]| {
        let mut rest: Vec<u32> = (0..of.len() as u32).filter(|one| of[*one as usize] == ELSEWHERE).collect();
        rest.sort_by_key(|one| classes[*one as usize]);
        rest
    };
    let (parts_left, domains_left) = (rest(&label), rest(&part_of));
    parts_left.iter().zip(domains_left).for_each(|(part, domain)| label[*part as usize] = domain);
    parts.iter_mut().for_each(|part| *part = label[*part as usize]);
}

/// Parts that call what is pinned to their domains.
fn bound(level: &Level, parts: &[u32]) -> Vec<u32> {
    let pinned = parts.len() as u32;
    let calls_pinned =
        |(item, _): &(u32, &u32)| level.graph.around(*item).iter().any(|other| other.vertex >= pinned);
    let mut bound: Vec<u32> = match level.graph.pinned() {
        [] => Vec::new(),
        _ => (0..pinned).zip(parts).filter(calls_pinned).map(|(_, part)| *part).collect(),
    };
    bound.sort_unstable();
    bound.dedup();
    bound
}

/// The class of each domain: those of one can do about as much.
fn classes(level: &Level) -> Vec<u32> {
    let (ledger, average) = (Ledger::new(&level.domains), level.average());
    let spare = |domain: u32| ledger.spare(domain, average);
    let mut by_spare: Vec<u32> = (0..level.domains.len() as u32).collect();
    by_spare.sort_by(|one, other| spare(*one).total_cmp(&spare(*other)));
    let mut classes = vec![0; by_spare.len()];
    let (mut class, mut least) = (0, f64::NEG_INFINITY);
    for domain in by_spare {
        if spare(domain) > least + ALIKE * average {
            (class, least) = (class + 1, spare(domain));
        }
        classes[domain as usize] = class;
    }
    classes
}
