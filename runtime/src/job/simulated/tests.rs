//! Tests of simulated jobs: each seed twice, and what becomes of programs that cannot go on.

use super::{Chance, Fidelity, Simulated, Simulation};
use crate as chare;
use crate::model::envelope::frame::{self, Header};
use crate::model::error::JobError;
use crate::model::ids::NodeId;
use crate::node::credit::Price;
use crate::node::devices::DeviceChoice;
use crate::pe::Pe;
use crate::prelude::*;
use crate::{RegisteredSource, RegisteredTarget, SourceHandle, TargetHandle, rget, rput};
use chare_lrts::{Frame, Lrts};
use std::collections::BTreeSet;
use std::time::Duration;

/// Elements of buffers that travel apart from their messages on any path.
const BULK: usize = 9_000;

struct Member {
    seen: u64,
    source: Option<RegisteredSource<u64>>,
    target: Option<RegisteredTarget<u64>>,
}

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self { seen: 0, source: None, target: None }
    }

    /// Calls others at random, so many generations of calls deep, with arguments of any length.
    #[entry]
    fn scatter(&mut self, depth: u32, members: u64, _ballast: Vec<u8>) {
        self.seen += 1;
        for _ in 0..if depth > 0 { 2 } else { 0 } {
            let dice = chare::dice();
            let ballast = vec![0; dice.below(if dice.below(8) == 0 { 40_000 } else { 100 }) as usize];
            self.this_collection().at(dice.below(members)).scatter(depth - 1, members, ballast);
        }
    }

    #[entry]
    fn count(&mut self, to: Callback<u64>) {
        let seen = std::mem::take(&mut self.seen);
        self.contribute(sum(seen), to);
    }

    #[entry]
    async fn rest(_: This<Self>, rested: Callback<()>) {
        chare::sleep(Duration::from_secs(100)).await;
        rested.send(());
    }

    #[entry]
    fn borrow(&mut self, #[nocopy] values: Received<u64>, done: Callback<u64>) {
        done.send(values.iter().sum());
    }

    #[entry]
    fn land(&mut self, #[nocopy(post)] values: Posted<u64>, done: Callback<u64>) {
        done.send(values.iter().sum());
    }

    #[post(land)]
    fn post_land(&mut self, values: Post<u64>, _done: &Callback<u64>) {
        let len = values.len();
        values.post(vec![0; len]).expect("it is as long");
    }

    #[entry]
    fn register(&mut self, to: Callback<(SourceHandle<u64>, TargetHandle<u64>)>) {
        let source = RegisteredSource::register(vec![1; BULK]);
        let target = RegisteredTarget::register(BufferMut::zeroed(BULK));
        to.send((source.handle(), target.handle()));
        (self.source, self.target) = (Some(source), Some(target));
    }

    #[entry]
    async fn exchange(this: This<Self>, peer: u64, over: Callback<()>) {
        chare::sleep(Duration::from_nanos(chare::dice().below(50_000))).await;
        let peer = this.this_collection().at(peer);
        let ((borrowed, on_borrowed), (landed, on_landed)) = (chare::future(), chare::future());
        peer.borrow(vec![1; BULK], on_borrowed);
        peer.land(vec![1; BULK], on_landed);
        let (handles, on_handles) = chare::future();
        peer.register(on_handles);
        let (source, target) = handles.await;
        let ((read, on_read), (put, on_put)) = (chare::future(), chare::future());
        rget(&source, BufferMut::<u64>::zeroed(BULK), on_read).expect("it is as long");
        rput(vec![1; BULK], &target, on_put).expect("it is as long");
        assert_eq!(read.await.iter().sum::<u64>(), BULK as u64);
        let _: Buffer<u64> = put.await;
        assert_eq!([borrowed.await, landed.await], [BULK as u64; 2]);
        this.contribute(barrier(), over);
    }
}

/// Traffic of many kinds, whose results are known.
async fn everything() {
    const DEPTH: u32 = 6;
    let members = u64::from(chare::pes()) + 3;
    let all = MemberProxy::create(members);
    for round in 0..2 {
        all.at(round).scatter(DEPTH, members, Vec::new());
        chare::quiescence().await;
        let (seen, on_seen) = chare::future();
        all.count(on_seen);
        assert_eq!(seen.await, (1 << (DEPTH + 1)) - 1, "quiescence came when all calls were over");
    }
    let (over, on_over) = chare::future();
    for member in 0..members {
        all.at(member).exchange((member + 1) % members, on_over);
    }
    over.await;
}

const FIDELITIES: [Fidelity; 3] = [Fidelity::Emulated, Fidelity::Leased, Fidelity::Direct];

fn fidelity_of(seed: u64) -> Fidelity {
    FIDELITIES[seed as usize % FIDELITIES.len()]
}

#[track_caller]
fn same_twice(simulation: &Simulation) -> Simulated {
    let [one, other] = [(); 2].map(|()| simulation.clone().run(everything));
    assert_eq!(one.code().expect("it ends well"), 0);
    if one.trace_hash() != other.trace_hash() {
        let [one, other] = [(); 2].map(|()| simulation.clone().recorded().run(everything));
        let difference = one.first_difference(&other);
        panic!("{simulation:?}: {}", difference.unwrap_or_else(|| "not the same every time".to_owned()));
    }
    assert_eq!((one.time(), one.events()), (other.time(), other.events()));
    one
}

#[test]
fn a_seed_is_the_same_run_each_time() {
    let mut hashes = Vec::new();
    for (nodes, pes, seeds) in [(1, 3, 4), (2, 2, 12), (4, 3, 6), (16, 4, 2)] {
        for seed in 0..seeds {
            let simulation = Simulation::new(nodes, pes).hosts(1 + seed as u32 % 3).seed(seed);
            hashes.push(same_twice(&simulation).trace_hash());
            let shuffled = simulation.shuffled(seed).mailbox(4);
            hashes.push(same_twice(&shuffled).trace_hash());
        }
    }
    let runs = hashes.len();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), runs, "another seed, another run");
}

#[test]
fn whatever_chance_does_a_seed_is_the_same_run_each_time_and_ends_as_it_should() {
    let mut marks = BTreeSet::new();
    for (nodes, pes, seeds) in [(2, 2, 24), (5, 1, 12), (3, 3, 6)] {
        for seed in 0..seeds {
            let simulation = Simulation::new(nodes, pes).seed(seed).chance(Chance::ALL).audited();
            let simulation = simulation.fidelity(fidelity_of(seed));
            marks.extend(same_twice(&simulation).marks().iter().map(|(mark, _)| *mark));
        }
    }
    for mark in [
        "a message found no room",
        "a message waited for credit",
        "a get or put found no room",
        "memory that could not be registered was copied into its message",
        "a message came before its collection",
        "a message came before an earlier one",
        "a registration made room for another",
    ] {
        assert!(marks.contains(mark), "no seed came to where {mark}: {marks:?}");
    }
}

#[test]
fn what_is_not_left_to_chance_is_the_same_with_each_seed() {
    let times = |parts: &[Chance]| {
        let time = |seed| {
            // With one PE each, so that nobody draws who of a node looks at its network.
            let simulation = Simulation::new(4, 1).seed(seed).chance(parts.iter().copied());
            let outcome = simulation.run(async || {
                let (answer, callback) = chare::future::<u64>();
                MemberProxy::create(8).count(callback);
                assert_eq!(answer.await, 0);
            });
            assert_eq!(outcome.code().expect("it ends well"), 0);
            outcome.time()
        };
        (0..12).map(time).collect::<BTreeSet<Duration>>().len()
    };
    assert_eq!(times(&[]), 1, "nothing is");
    for part in [Chance::Weather, Chance::Turns, Chance::Pauses, Chance::Bursts] {
        assert!(times(&[part]) > 1, "{part} is");
    }
}

#[test]
fn the_first_event_that_differs_is_named() {
    let run = |seed| Simulation::new(2, 1).seed(seed).recorded().run(everything);
    let (one, other) = (run(1), run(2));
    assert_eq!(one.first_difference(&run(1)), None);
    let difference = one.first_difference(&other).expect("other seeds, other runs");
    assert!(difference.starts_with("event ") && difference.contains(" ns "), "{difference}");
    assert_eq!(one.first_difference(&Simulation::new(2, 1).run(everything)), None, "it kept nothing");
}

#[test]
fn time_is_virtual() {
    let outcome = Simulation::new(2, 1).run(async || {
        let begin = chare::now();
        chare::sleep(Duration::from_secs(100_000)).await;
        assert!(chare::now() - begin >= Duration::from_secs(100_000));
        chare::exit(5);
    });
    assert_eq!(outcome.code().expect("it ends well"), 5);
    assert!(outcome.time() >= Duration::from_secs(100_000), "{:?}", outcome.time());
}

#[test]
fn a_job_that_stands_still_ends_and_says_what_waits() {
    let outcome = Simulation::new(3, 2).run(async || {
        let (never, callback) = chare::future::<u32>();
        let _kept = callback;
        never.await;
    });
    let error = outcome.code().expect_err("nobody sends").to_string();
    assert!(error.contains("stands still") && error.contains("async entries"), "{error}");
}

#[test]
fn a_panic_ends_the_job_on_all_nodes() {
    let outcome = Simulation::new(4, 2).run(async || {
        MemberProxy::create(8);
        panic!("on purpose");
    });
    let error = outcome.code().expect_err("main panicked").to_string();
    assert!(error.contains("main panicked on PE 0") && error.contains("on purpose"), "{error}");
}

#[test]
fn what_reaches_out_of_the_job_ends_it_with_words() {
    let outcome = Simulation::new(2, 1).run(async || {
        chare::io(async {}).await;
    });
    let error = outcome.code().expect_err("there is no reactor").to_string();
    assert!(error.contains("knows nothing of the world outside"), "{error}");
    let outcome = Simulation::new(2, 1).run(async || drop(chare::job_handle()));
    let error = outcome.code().expect_err("there is no handle").to_string();
    assert!(error.contains("a simulated job has no handle"), "{error}");
    let outcome = Simulation::new(1, 1).run(async || assert!(chare::devices::mine().is_err()));
    assert_eq!(outcome.code().expect("it ends well"), 0);
}

/// Runs a program whose `main` does something to the runtime that the runtime never does; returns the promise that the oracles see broken.
#[track_caller]
fn broken_by(sabotage: fn(&Pe)) -> String {
    let outcome = Simulation::new(2, 2).seed(3).audited().run(move || async move {
        let all = MemberProxy::create(7);
        all.at(0).scatter(5, 7, Vec::new());
        chare::sleep(Duration::from_micros(200)).await;
        Pe::current(|pe| sabotage(pe));
        chare::quiescence().await;
    });
    match outcome.code() {
        Err(JobError::Oracle { what, .. }) => what,
        other => panic!("no promise was broken: {other:?}"),
    }
}

#[test]
fn oracles_see_promises_broken_that_no_program_sees() {
    let what = broken_by(|pe| pe.counters.processed.add(1_000));
    assert!(what.contains("messages were sent and"), "{what}");
    let what = broken_by(|pe| {
        let paid = pe.node.departures.account(NodeId(1)).pay(Price::plain(100));
        assert!(paid);
    });
    assert!(what.contains("node 0 has spent"), "{what}");
    let what = broken_by(|pe| pe.node.departures.account(NodeId(1)).let_go(1));
    assert!(what.contains("node 1 has spent"), "{what}");
    // As if one had not been counted when it was sent.
    let what = broken_by(|pe| pe.counters.processed.add(1));
    assert!(what.contains("are counted as in flight") || what.contains("messages were sent and"), "{what}");
    let what = broken_by(|pe| {
        let frame = frame::encode(&Header::Credit { bytes: 0 }, None).expect("a number encodes");
        pe.node.network.send(NodeId(1), Frame::runtime(&frame)).expect("there is room");
    });
    assert!(what.contains("node 1 has got a message of the runtime from node 0"), "{what}");
}

/// Chares that send each other a message to and fro, on PE 0 and PE 1.
struct Player;

#[chare(group)]
impl Player {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn play(&mut self, left: u32, _ballast: Vec<u8>, over: Callback<()>) {
        chare::sim::compute(Duration::from_nanos(COMPUTED_NS));
        match left {
            0 => over.send(()),
            _ => self.this_collection().on(PeId(1 - chare::my_pe().0)).play(left - 1, vec![0; BALLAST], over),
        }
    }
}

const BALLAST: usize = 5_000;
const COMPUTED_NS: u64 = 700;
const COST_NS: u64 = 300;
const HOPS: u32 = 100;

/// The time of each hop of a message between two PEs, in nanoseconds.
async fn play_for(hops: u32) -> u64 {
    let players = PlayerProxy::create();
    chare::quiescence().await;
    let play = async |hops| {
        let begun = chare::now();
        let (over, on_over) = chare::future();
        players.on(PeId(1)).play(hops, vec![0; BALLAST], on_over);
        over.await;
        (chare::now() - begun).as_nanos() as u64
    };
    // Hops more, all else equal.
    let (few, many) = (play(1).await, play(1 + hops).await);
    (many - few) / u64::from(hops)
}

#[test]
fn a_model_says_what_messages_take_and_entries_what_they_cost() {
    let network: crate::sim::Network = "loggops:L=2500,o=1500,g=1000,G=6,O=0".parse().expect("it is one");
    let run = |seed| {
        let costs = crate::sim::Costs::Fixed(Duration::from_nanos(COST_NS));
        Simulation::new(2, 1).seed(seed).model(network).costs(costs).recorded().run(async || {
            let hop_ns = play_for(HOPS).await;
            // What the program gives is a part of the frame, whose last bytes are received by the end.
            let least = 2_500 + 2 * 1_500 + 6 * (BALLAST as u64 - 1) + COMPUTED_NS + COST_NS;
            let headers = hop_ns - least;
            assert!((6..6 * 100).contains(&headers), "{headers} ns for headers of at most 100 bytes");
        })
    };
    let [one, other] = [run(1), run(2)];
    assert_eq!(one.code().expect("it ends well"), 0);
    assert_eq!(one.first_difference(&other), None, "nothing is left to chance");
    assert_eq!(one.time(), other.time());
    assert!(one.time() > HOPS * Duration::from_micros(35), "{:?}", one.time());
}

#[test]
fn a_job_with_a_model_does_the_same_and_keeps_its_promises() {
    let network: crate::sim::Network = "loggops:L=900,o=300,g=100,G=0.125".parse().expect("it is one");
    for (nodes, pes) in [(1, 3), (2, 2), (5, 1), (4, 3)] {
        for fidelity in FIDELITIES {
            let simulation = Simulation::new(nodes, pes).fidelity(fidelity).model(network).audited();
            same_twice(&simulation);
        }
    }
}

/// Where messages are on their way for a while.
const FAR: &str = "loggops:L=2500,o=1500,g=1000,G=6,hop=100,shape=torus:10x10x1";

#[test]
fn several_threads_make_of_a_seed_what_one_does() {
    for (nodes, pes, seed) in
        [(2, 2, 1), (5, 3, 2), (5, 1, 3), (5, 2, 4), (3, 2, 5), (70, 1, 6), (66, 1, 7), (66, 1, 8)]
    {
        let network = FAR.parse().expect("it is one");
        let job = Simulation::new(nodes, pes).hosts(2).seed(seed).model(network).recorded();
        let job = job.fidelity(fidelity_of(seed));
        let alone = job.clone().run(everything);
        assert_eq!(alone.code().expect("it ends well"), 0);
        for threads in [2, 3, 8] {
            let outcome = job.clone().threads(threads).run(everything);
            assert_eq!(outcome.code().expect("it ends well"), 0);
            assert_eq!(alone.first_difference(&outcome), None, "{nodes} nodes by {threads} threads");
            assert_eq!(outcome.trace_hash(), alone.trace_hash());
            assert_eq!(
                (outcome.time(), outcome.events(), outcome.messages(), outcome.marks()),
                (alone.time(), alone.events(), alone.messages(), alone.marks())
            );
        }
    }
}

#[test]
fn jobs_of_several_threads_end_as_others_do() {
    let job = || Simulation::new(5, 2).model(FAR.parse().expect("it is one"));
    let waits = async || {
        let (never, callback) = chare::future::<u32>();
        let _kept = callback;
        never.await;
    };
    let fails = async || {
        MemberProxy::create(8);
        panic!("on purpose");
    };
    let ends = |outcome: Simulated| (outcome.code().expect_err("it fails").to_string(), outcome.trace_hash());
    for threads in [2, 3, 5] {
        assert_eq!(ends(job().threads(threads).run(waits)), ends(job().run(waits)));
        assert_eq!(ends(job().threads(threads).run(fails)), ends(job().run(fails)));
    }
    let leaves = async || chare::exit(7);
    assert_eq!(job().threads(5).run(leaves).code().expect("it ends well"), 7);
    // Longer than messages may not move, on a PE of the last thread; and then they move again.
    let sleeps = async || {
        let members = MemberProxy::create(10);
        for _ in 0..3 {
            let (rested, on_rested) = chare::future();
            members.at(9).rest(on_rested);
            rested.await;
        }
    };
    let ends =
        |outcome: Simulated| (outcome.code().expect("it ends well"), outcome.time(), outcome.trace_hash());
    let alone = ends(job().run(sleeps));
    assert!(alone.1 > Duration::from_secs(3 * 100));
    assert_eq!(ends(job().threads(3).run(sleeps)), alone);
}

#[test]
fn threads_are_refused_where_they_could_not_make_the_same() {
    let modelled = || Simulation::new(4, 1).threads(2).model(FAR.parse().expect("it is one"));
    let at_once = || Simulation::new(4, 1).threads(2).model("loggops:o=1".parse().expect("it is one"));
    for (job, why) in [
        (Simulation::new(4, 1).threads(2), "`+model`"),
        (at_once(), "`L`"),
        (modelled().audited(), "audited"),
        (modelled().chance(Chance::ALL), "pause"),
        (modelled().device(DeviceChoice::software(1)), "devices"),
    ] {
        let error = job.run(async || ()).code().expect_err("it is refused").to_string();
        assert!(error.contains("several threads") && error.contains(why), "{error}");
    }
}

#[test]
fn a_network_that_is_too_small_is_refused() {
    let network: crate::sim::Network = "loggops:L=1,shape=torus:2x2x2,hop=1".parse().expect("it is one");
    let refused =
        Simulation::new(9, 1).model(network).run(everything).code().expect_err("8 places").to_string();
    assert!(refused.contains("torus:2x2x2 has 8 places, for 9 nodes"), "{refused}");
}

#[test]
fn a_timeline_is_in_virtual_time() {
    let file = std::env::temp_dir().join(format!("chare-simulated-{}", std::process::id()));
    let options =
        crate::ReachOptions { trace: Some(file.clone().into_os_string().into()), ..Default::default() };
    let network: crate::sim::Network = "loggops:L=2500,o=1500".parse().expect("it is one");
    let outcome = Simulation::new(2, 1).model(network).network(options).run(async || {
        play_for(HOPS).await;
    });
    assert_eq!(outcome.code().expect("it ends well"), 0);
    for node in 0..2 {
        let file = file.with_extension(node.to_string());
        let text = std::fs::read_to_string(&file).expect("the node has written it");
        std::fs::remove_file(&file).expect("it is there");
        let field = |line: &str, name: &str| {
            let (_, rest) = line.split_once(&format!("\"{name}\":"))?;
            rest.split([',', '}']).next()?.parse::<f64>().ok()
        };
        let events: Vec<_> = text.lines().filter_map(|line| Some((line, field(line, "ts")?))).collect();
        // The nodes take leave of each other after that, within microseconds.
        let end_us = outcome.time().as_secs_f64() * 1e6 + 1e3;
        let late = events.iter().find(|(_, at_us)| *at_us > end_us);
        assert_eq!(late, None, "a moment of the machine's clock");
        let plays = events.iter().filter(|(line, _)| line.contains("Player::play"));
        let times_us: Vec<f64> = plays.filter_map(|(line, _)| field(line, "dur")).collect();
        // Each computes and sends; the last one of each of two plays sends nothing to a player, but may answer.
        let whole = times_us.iter().filter(|time_us| **time_us == 0.7 + 1.5).count();
        assert!(whole + 2 >= HOPS as usize / 2 && times_us.len() <= whole + 4, "{times_us:?}\n{text}");
    }
}
