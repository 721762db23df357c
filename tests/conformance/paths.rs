//! Paths of `reach`: which one it takes, which options it refuses, and how it sleeps.

use crate::backends::{named, open_reach};
use crate::group::{Group, Node, PATIENCE, assert_pattern, fill};
use crate::runner::{Check, Outcome, family};
use chare_lrts::bootstrap::single::Single;
use chare_lrts::claim::ClaimMode;
use chare_lrts::reach::{PeerUse, Reach, ReachOptions};
use chare_lrts::{Claim, Entering, Get, Held, Lrts, LrtsError, MemoryMut, NodeId, Posted, RegionKey};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

const LEN: usize = 100_000;

/// Two nodes, and each as what it is.
pub(crate) fn pair(options: ReachOptions) -> Result<(Group, Vec<Arc<Reach>>), LrtsError> {
    let reaches = open_reach(2, &options)?;
    let nodes = reaches.iter().map(|reach| {
        let (lrts, arenas) = (Arc::clone(reach), Arc::clone(reach));
        let allocate = Box::new(move |len| arenas.allocate(len));
        Node { lrts, regions: Arc::clone(reach.regions()), allocate }
    });
    Ok((Group::new(nodes.collect()), reaches))
}

/// Registers memory on the heap of node 1, which nobody can map.
fn heap_source(group: &Group) -> RegionKey {
    let mut bytes = vec![0; LEN];
    fill(&mut bytes, 4);
    let held = Held::Source(MemoryMut::from_vec(bytes).freeze());
    group.nodes[1].regions.register(held).expect("the board has room")
}

/// Gets shareable memory and heap memory of node 1, and says which paths that took.
fn used(options: ReachOptions) -> PeerUse {
    let (mut group, reaches) = pair(options).expect("the options fit this host");
    let shareable = group.nodes[1].source(LEN, 4);
    let heap = heap_source(&group);
    for key in [shareable, heap] {
        let got = group.get_bytes(0, key, 0, LEN).expect("any path gets it");
        assert_pattern(got.as_slice(), 0, 4);
    }
    let usage = reaches[0].usage(NodeId(1));
    assert_eq!(reaches[1].usage(NodeId(0)).emulated.operations, 0, "the target posts nothing");
    drop(reaches);
    group.close();
    usage
}

/// How many operations went by mapping, by the kernel, by messages.
pub(crate) fn operations(usage: &PeerUse) -> (u64, u64, u64) {
    (usage.copied.operations, usage.kernel_copied.operations, usage.emulated.operations)
}

fn options_choose_the_path() -> Outcome {
    let cases = [
        ("nearest", ReachOptions::default(), (1, 1, 0)),
        ("+lrts shm", named("shm"), (1, 1, 0)),
        ("+lrts cma", named("cma"), (0, 2, 0)),
        ("+lrts tcp", named("tcp"), (0, 2, 0)),
        ("+lrts emulated", named("emulated"), (0, 0, 2)),
        ("+nocma", ReachOptions { nocma: true, ..ReachOptions::default() }, (1, 0, 1)),
        ("+noshm", ReachOptions { noshm: true, ..ReachOptions::default() }, (0, 2, 0)),
        ("+nolocal", ReachOptions { nolocal: true, ..ReachOptions::default() }, (0, 0, 2)),
        ("+lrts tcp +nocma", ReachOptions { nocma: true, ..named("tcp") }, (0, 0, 2)),
    ];
    if let Err(why) = pair(named("cma")) {
        return Outcome::Skipped(why.to_string());
    }
    for (what, options, expected) in cases {
        let usage = used(options);
        assert_eq!(operations(&usage), expected, "{what}: {usage}");
        assert_eq!(usage.copied.bytes + usage.kernel_copied.bytes + usage.emulated.bytes, 2 * LEN as u64);
    }
    Outcome::Passed
}

fn paths_are_told_in_words() -> Outcome {
    for (options, carrier) in
        [(named("emulated"), "shm"), (ReachOptions { nocma: true, ..named("tcp") }, "tcp")]
    {
        let (group, reaches) = pair(options).expect("the options fit this host");
        let words = reaches[0].path(NodeId(1));
        assert_eq!(words, format!("messages by {carrier}, memory by emulated over {carrier}"));
        assert!(reaches[0].path(NodeId(0)).contains("same process"));
        assert!(reaches[0].take_warnings().is_empty(), "nothing was given up");
        drop(reaches);
        group.close();
    }
    Outcome::Passed
}

fn options_that_lead_nowhere_are_refused() -> Outcome {
    let error = |options| pair(options).err().expect("no path is left").to_string();
    let unknown = error(named("smh"));
    assert!(unknown.contains("`smh`") && unknown.contains("shm, cma, tcp"), "{unknown}");
    let alone = error(named("memcpy"));
    assert!(alone.contains("one process"), "{alone}");
    let nolocal = error(ReachOptions { nolocal: true, ..named("shm") });
    assert!(nolocal.contains("`+nolocal`"), "{nolocal}");
    let noshm = error(ReachOptions { noshm: true, ..named("shm") });
    assert!(noshm.contains("`+noshm`"), "{noshm}");
    let nocma = error(ReachOptions { nocma: true, ..named("cma") });
    assert!(nocma.contains("`+nocma`"), "{nocma}");
    Outcome::Passed
}

fn a_node_alone_needs_no_network() -> Outcome {
    for options in [ReachOptions::default(), named("memcpy"), named("tcp"), named("emulated")] {
        let reach = Reach::open(&mut Single::new(), &options).expect("one node is always reachable");
        assert!(!reach.capabilities().messages);
        let held = Held::Source(MemoryMut::from_vec(vec![3; LEN]).freeze());
        let key = reach.regions().register(held).expect("the board has room");
        let into = reach.allocate(LEN);
        let posted = reach.get(Get { key, offset: 0, into, len: LEN, token: 0 });
        assert!(matches!(posted, Ok(chare_lrts::Posted::Done(done)) if done.result == Ok(LEN)));
        let lent = reach.view(&key, 1, 2, Entering::AtOnce).expect("it is live").expect("it can be lent");
        assert_eq!(lent.as_slice(), [3, 3]);
        assert_eq!(operations(&reach.usage(NodeId(0))), (1, 0, 0));
        reach.shutdown();
        assert!(reach.is_closed());
    }
    Outcome::Passed
}

fn a_wake_up_is_never_lost() -> Outcome {
    let reach = Arc::new(Reach::open(&mut Single::new(), &ReachOptions::default()).expect("one node"));
    let began = Instant::now();
    for _ in 0..200 {
        // Before the sleep.
        reach.wake();
        reach.wait(Some(PATIENCE));
        // During it, or before: whichever thread is first.
        let waker = Arc::clone(&reach);
        let waking = std::thread::spawn(move || waker.wake());
        reach.wait(Some(PATIENCE));
        waking.join().expect("no panic");
    }
    assert!(began.elapsed() < PATIENCE, "some wake-up was lost");
    // Without one, the time ends the sleep.
    reach.wait(Some(Duration::from_millis(1)));
    Outcome::Passed
}

/// Has node 0 get a region of node 1 that a claim is in the way of. Returns the claim.
fn get_beside_a_claim(group: &Group, reach: &Reach, key: RegionKey) -> Claim {
    let claim = group.nodes[1].regions.claim(&key, 0, 1, ClaimMode::Write).expect("nobody else claims it");
    let get = Get { key, offset: 0, into: group.nodes[0].memory(LEN, 0), len: LEN, token: 3 };
    assert!(matches!(reach.get(get), Ok(Posted::Pending)));
    claim
}

/// Whoever waits for a claim may sleep until it is told that the claim has ended, whatever carries messages.
fn the_end_of_a_claim_wakes_who_waits_for_it() -> Outcome {
    if let Err(why) = pair(named("cma")) {
        return Outcome::Skipped(why.to_string());
    }
    let paths = [
        ReachOptions::default(),
        ReachOptions { nocma: true, ..ReachOptions::default() },
        ReachOptions { noshm: true, ..ReachOptions::default() },
        named("cma"),
    ];
    for options in paths {
        let (mut group, reaches) = pair(options).expect("the options fit this host");
        let key = group.nodes[1].target(LEN);
        let began = Instant::now();
        for _ in 0..50 {
            let claim = get_beside_a_claim(&group, &reaches[0], key);
            assert!(reaches[0].is_waiting() && !reaches[0].has_news());
            let ending = std::thread::spawn(move || drop(claim));
            while group.heard[0].completions.is_empty() {
                reaches[0].wait(Some(PATIENCE));
                group.step();
            }
            ending.join().expect("no panic");
            assert_eq!(group.heard[0].completions.remove(0).result, Ok(LEN));
        }
        assert!(began.elapsed() < PATIENCE, "some news were lost");
        drop(group.nodes[1].end(&key));
        drop(reaches);
        group.close();
    }
    Outcome::Passed
}

/// So may a node which serves, over a network, a transfer that waits for a claim.
fn the_end_of_a_claim_wakes_who_serves_what_waits_for_it() -> Outcome {
    let options = ReachOptions { nolocal: true, ..ReachOptions::default() };
    let (mut group, reaches) = pair(options).expect("the options fit this host");
    let key = group.nodes[1].target(LEN);
    let began = Instant::now();
    for _ in 0..50 {
        let claim = get_beside_a_claim(&group, &reaches[0], key);
        let is_over = AtomicBool::new(false);
        let [asks, serves] = &mut group.heard[..] else { unreachable!("they are two") };
        std::thread::scope(|scope| {
            scope.spawn(|| drop(claim));
            scope.spawn(|| {
                while asks.completions.is_empty() {
                    reaches[0].wait(Some(PATIENCE));
                    reaches[0].progress(asks);
                }
                is_over.store(true, Ordering::Release);
                reaches[1].wake();
            });
            while !is_over.load(Ordering::Acquire) {
                reaches[1].wait(Some(PATIENCE));
                reaches[1].progress(serves);
            }
        });
        assert_eq!(group.heard[0].completions.remove(0).result, Ok(LEN));
    }
    assert!(began.elapsed() < PATIENCE, "some news were lost");
    drop(group.nodes[1].end(&key));
    drop(reaches);
    group.close();
    Outcome::Passed
}

/// All checks of this file.
pub(crate) fn checks() -> Vec<Check> {
    family(
        "paths",
        &[
            ("options_choose_the_path", options_choose_the_path),
            ("paths_are_told_in_words", paths_are_told_in_words),
            ("the_end_of_a_claim_wakes_who_waits_for_it", the_end_of_a_claim_wakes_who_waits_for_it),
            (
                "the_end_of_a_claim_wakes_who_serves_what_waits_for_it",
                the_end_of_a_claim_wakes_who_serves_what_waits_for_it,
            ),
            ("options_that_lead_nowhere_are_refused", options_that_lead_nowhere_are_refused),
            ("a_node_alone_needs_no_network", a_node_alone_needs_no_network),
            ("a_wake_up_is_never_lost", a_wake_up_is_never_lost),
        ],
    )
}
