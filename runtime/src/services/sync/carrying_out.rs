//! What a PE does when a sync is over: elements go on, or move and go on where they arrive.

use super::message::{Member, Round};
use super::state::{GoesOn, Syncs, Waiting, state};
use crate::delivery::fire::fire;
use crate::model::arguments::Arguments;
use crate::model::ids::{PeId, Target};
use crate::pe::Pe;
use crate::services::again;
use crate::services::migration::{self, bond_of};
use std::collections::BTreeMap;

/// Ends a balancing on this PE.
pub(super) fn end(pe: &Pe, round: Round, moves: Vec<(Member, PeId)>) {
    let (may_go_on, moves) = {
        let mut syncs = state(pe).borrow_mut();
        if let Round::Sync(sync) = round {
            syncs.over = syncs.over.max(sync.saturating_add(1));
        }
        syncs.carrying_out.begin();
        let over = syncs.over;
        let bond = |((id, index), to): (Member, PeId)| (bond_of(pe, Target::Member(id, index)), to);
        let moves: BTreeMap<Target, PeId> = moves.into_iter().map(bond).collect();
        let goes = |member: &Target| !moves.is_empty() && moves.contains_key(&bond_of(pe, *member));
        let waiting =
            syncs.waiting.iter().filter(|(_, waiting)| waiting.sync < over).map(|(member, _)| *member);
        let mut may_go_on: Vec<Target> = waiting.filter(|member| !goes(member)).collect();
        may_go_on.sort_unstable();
        (may_go_on, moves)
    };
    for (bond, to) in moves {
        migration::plan(pe, bond, to);
    }
    may_go_on.into_iter().for_each(|member| go_on_if_over(pe, member));
}

/// Lets an element go on that waits for a sync which is over, if it does. One that has given its wait up hears of it at its next.
pub(super) fn go_on_if_over(pe: &Pe, member: Target) {
    let waiting = {
        let Syncs { over, waiting, .. } = &mut *state(pe).borrow_mut();
        let is_awaited = |goes_on| match goes_on {
            GoesOn::ByCallback(_) => true,
            GoesOn::Again => again::awaits_sync(pe, member),
        };
        let goes_on = |waiting: &Waiting| waiting.sync < *over && is_awaited(waiting.goes_on);
        waiting.get(&member).is_some_and(goes_on).then(|| waiting.remove(&member)).flatten()
    };
    if let Some(waiting) = waiting {
        go_on_by(pe, member, waiting.goes_on, waiting.sync + 1);
    }
}

/// Lets an element go on when so many syncs are over.
pub(super) fn go_on_by(pe: &Pe, member: Target, goes_on: GoesOn, round: u64) {
    match goes_on {
        GoesOn::ByCallback(callback) => fire(pe, callback, Arguments::new(())),
        GoesOn::Again => again::go_on(pe, member, round),
    }
}
