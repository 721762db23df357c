//! Long transfers whose path is a copy: threads that poll and threads that help carry them out together, in fragments, and what is under way
//! outlives neither its claims nor its memory.
//!
//! What engines of hardware may do besides is drawn from seeds against a mock engine, which no program can reach: `lrts/src/engine/tests.rs`.

use crate::backends::named;
use crate::group::{Group, Heard, assert_pattern};
use crate::paths::pair;
use crate::runner::{Check, Outcome, family};
use chare_lrts::claim::ClaimMode;
use chare_lrts::reach::{Reach, ReachOptions};
use chare_lrts::{Completion, Get, Held, Lrts, MemoryMut, NodeId, Posted, Put, RegionKey, TransferError};
use std::sync::Arc;

/// A hundred fragments.
const LEN: usize = (100 << 16) + 3;

/// Runs a check on each way by which node 0 copies memory of a node: within itself, by a mapping, by the kernel.
fn on_every_way(check: impl Fn(Group, Vec<Arc<Reach>>, usize)) -> Outcome {
    let mut outcome = Outcome::Passed;
    for (options, owner) in [(ReachOptions::default(), 0), (named("shm"), 1), (named("cma"), 1)] {
        match pair(options) {
            Ok((group, reaches)) => check(group, reaches, owner),
            Err(why) => outcome = Outcome::Skipped(format!("on one way: {why}")),
        }
    }
    outcome
}

/// Begins a get of a whole region by node 0.
fn begin_get(group: &Group, key: RegionKey, token: u64) {
    let (into, len) = ((group.nodes[0].allocate)(LEN), LEN);
    let posted = group.nodes[0].lrts.get(Get { key, offset: 0, into, len, token });
    assert!(matches!(posted, Ok(Posted::Pending)), "a long copy goes on in fragments");
}

fn memory_of(completion: Completion) -> MemoryMut {
    assert_eq!(completion.result, Ok(LEN));
    completion.memory.expect("a get's memory comes back")
}

/// Lets node 0 poll and two threads help until no copy is left. Returns what all heard.
fn carry_on(group: &mut Group, reach: &Reach) -> Vec<Completion> {
    let help = || {
        let mut heard = Heard::default();
        while reach.has_copies() {
            reach.help(&mut heard);
            std::thread::yield_now();
        }
        heard.completions
    };
    let mut ended = std::thread::scope(|scope| {
        let helpers = [scope.spawn(help), scope.spawn(help)];
        group.until("all copies", |_| !reach.has_copies());
        helpers.into_iter().flat_map(|helper| helper.join().expect("no panic")).collect::<Vec<_>>()
    });
    ended.append(&mut group.heard[0].completions);
    ended
}

fn all_who_help_carry_long_transfers_out_together() -> Outcome {
    const EACH: u64 = 4;
    on_every_way(|mut group, reaches, owner| {
        let sources: Vec<_> = (0..EACH).map(|seed| group.nodes[owner].source(LEN, seed as u8)).collect();
        let targets: Vec<_> = (0..EACH).map(|_| group.nodes[owner].target(LEN)).collect();
        for (token, key) in (0..).zip(&sources) {
            begin_get(&group, *key, token);
        }
        for (token, key) in (EACH..).zip(&targets) {
            let from = group.nodes[0].memory(LEN, token as u8).freeze();
            let posted = group.nodes[0].lrts.put(Put { key: *key, offset: 0, from, token });
            assert!(matches!(posted, Ok(Posted::Pending)), "a long copy goes on in fragments");
        }
        let mut ended = carry_on(&mut group, &reaches[0]);
        ended.sort_by_key(|completion| completion.token);
        let tokens: Vec<_> = ended.iter().map(|completion| completion.token).collect();
        assert_eq!(tokens, (0..2 * EACH).collect::<Vec<_>>(), "each ends once");
        let puts = ended.split_off(EACH as usize);
        assert!(puts.iter().all(|put| put.result == Ok(LEN)));
        for (seed, completion) in (0..).zip(ended) {
            assert_pattern(memory_of(completion).as_slice(), 0, seed);
        }
        for (seed, key) in (EACH as u8..).zip(&targets) {
            let Held::Target(memory) = group.nodes[owner].end(key) else { panic!("it was a target") };
            assert_pattern(memory.as_slice(), 0, seed);
        }
        drop(reaches);
        group.close();
    })
}

fn a_region_that_ends_under_way_stays_until_its_copy_is_over() -> Outcome {
    on_every_way(|mut group, reaches, owner| {
        let key = group.nodes[owner].source(LEN, 5);
        let regions = Arc::clone(&group.nodes[owner].regions);
        begin_get(&group, key, 0);
        assert!(reaches[0].help(&mut group.heard[0]), "there is a fragment");
        assert!(matches!(regions.deregister(&key), Ok(None)), "it is claimed");
        let stale = group.get_bytes(0, key, 0, LEN).map(|_| ());
        assert_eq!(stale, Err(TransferError::StaleKey(NodeId(owner as u32))));
        let mut ended = carry_on(&mut group, &reaches[0]);
        assert_pattern(memory_of(ended.pop().expect("it is over")).as_slice(), 0, 5);
        assert!(ended.is_empty(), "it ends once");
        assert_eq!(regions.reap().len(), 1, "and its claim with it");
        drop(reaches);
        group.close();
    })
}

fn a_node_that_leaves_ends_its_copies_first() -> Outcome {
    on_every_way(|mut group, reaches, owner| {
        let key = group.nodes[owner].source(LEN, 6);
        begin_get(&group, key, 0);
        assert!(reaches[0].help(&mut group.heard[0]), "there is a fragment");
        reaches[0].shutdown();
        assert!(!reaches[0].is_closed(), "a copy is under way");
        group.until("the copy", |group| {
            assert!(
                group.heard[1].closed.is_empty() || !reaches[0].has_copies(),
                "a goodbye is the last word"
            );
            !group.heard[0].completions.is_empty()
        });
        assert_pattern(memory_of(group.heard[0].completions.remove(0)).as_slice(), 0, 6);
        drop(reaches);
        group.close();
    })
}

fn a_node_that_is_dropped_gives_its_claims_back() -> Outcome {
    on_every_way(|mut group, mut reaches, owner| {
        let key = group.nodes[owner].target(LEN);
        let regions = Arc::clone(&group.nodes[owner].regions);
        begin_get(&group, key, 0);
        assert!(reaches[0].help(&mut group.heard[0]), "there is a fragment");
        let is_claimed = || regions.claim(&key, 0, 1, ClaimMode::Write).is_err();
        assert!(is_claimed());
        group.heard.remove(0);
        drop((group.nodes.remove(0), reaches.remove(0)));
        assert!(!is_claimed(), "nobody waits for the rest");
        // Its memory, which stands there, keeps the socket to the other open.
        drop(regions);
        group.until("the loss", |group| !group.heard[0].lost.is_empty());
        group.nodes[0].lrts.shutdown();
        group.until("the end", |group| group.nodes[0].lrts.is_closed());
    })
}

/// An owner waits for a claim, and never for what else the neighbour does.
fn who_helps_to_fill_claims_for_as_long_as_it_writes() -> Outcome {
    let (group, reaches) = match pair(ReachOptions::default()) {
        Ok(opened) => opened,
        Err(why) => return Outcome::Skipped(why.to_string()),
    };
    let regions = Arc::clone(&group.nodes[1].regions);
    let divide = || regions.register_divided((group.nodes[1].allocate)(LEN), 4).expect("there is room");
    let (key, own) = divide();
    let is_claimed = |key| regions.claim(key, 0, 1, ClaimMode::Write).is_err();
    let helped = reaches[0].help_to_fill(&key).expect("it is mapped");
    assert!(!is_claimed(&key), "nothing was taken");
    let write = |piece| {
        assert_eq!(piece, 3, "from the end");
        assert!(is_claimed(&key));
        Ok::<(), ()>(())
    };
    assert_eq!(helped.write_next(write), Some(Ok(())));
    assert!(!is_claimed(&key), "it is written");
    (0..3).for_each(|place| assert_eq!(own.write_next(Err::<(), u32>), Some(Err(place))));
    assert!(own.is_over() && helped.is_over() && helped.write_next(|_| Ok::<(), ()>(())).is_none());
    assert!(!is_claimed(&key) && matches!(regions.deregister(&key), Ok(Some(_))));
    assert!(helped.is_over(), "of what was there");

    let (key, _own) = divide();
    let helped = reaches[0].help_to_fill(&key).expect("it is mapped");
    assert_eq!(helped.write_next(Err::<(), u32>), Some(Err(3)));
    drop(helped);
    assert!(is_claimed(&key), "a piece that could not be written is never taken for written");
    drop(reaches);
    group.close();
    Outcome::Passed
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    family(
        "engine",
        &[
            (
                "all_who_help_carry_long_transfers_out_together",
                all_who_help_carry_long_transfers_out_together,
            ),
            (
                "a_region_that_ends_under_way_stays_until_its_copy_is_over",
                a_region_that_ends_under_way_stays_until_its_copy_is_over,
            ),
            ("a_node_that_leaves_ends_its_copies_first", a_node_that_leaves_ends_its_copies_first),
            ("a_node_that_is_dropped_gives_its_claims_back", a_node_that_is_dropped_gives_its_claims_back),
            (
                "who_helps_to_fill_claims_for_as_long_as_it_writes",
                who_helps_to_fill_claims_for_as_long_as_it_writes,
            ),
        ],
    )
}
