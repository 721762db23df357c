//! Simulation: what a message and a PE take in a simulated job, of one thread and of two.
//!
//! | rows | ours | against |
//! |---|---|---|
//! | `message` | tokens go around a ring of PEs, each in a node of its own, or all in one; a hop | an event that is taken from a heap of as many, and put back at another time |
//! | `message .. by two threads` | the same, in a job whose network a model describes, driven by two threads | driven by one |
//! | `PE` | a job is made and ends | a thread that is made and ends |
//!
//! Below the table: messages a second, and memory of a PE. How long a program takes in a job of 100,032 PEs says
//! `examples/jacobi2d -- --iterations 100 +sim 1563 +p 64`.
//!
//! `cargo bench -p chare-benches --features sim --bench simulation`

use chare::Simulation;
use chare::prelude::*;
use chare_benches::{Benchmark, Comparison, Side, code_of, tell};
use chare_examples::memory::most_resident;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::hint::black_box;
use std::io;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

/// Samples of one run of a side.
const SAMPLES: u32 = 5;

/// Hops of all tokens together.
const HOPS: u64 = 1 << 18;

/// A network whose threads meet after 2.5 us of virtual time.
const MODEL: &str = "loggops:L=2500,o=1500,g=1000,G=6";

const HEAP_64: Side = &["side", "heap", "64"];
const HEAP_1024: Side = &["side", "heap", "1024"];
const THREAD: Side = &["side", "thread", "1000"];
const ALONE: Side = &["side", "modelled", "1", "160"];

/// What a peer is.
const HEAP: &str = "an event from a heap, and back";

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "message to another node, 64 nodes",
        ours: &["side", "ring", "1", "64"],
        against: HEAP,
        peer: HEAP_64,
    },
    Comparison {
        name: "message to another node, 1,024",
        ours: &["side", "ring", "1", "1024"],
        against: HEAP,
        peer: HEAP_1024,
    },
    Comparison {
        name: "message to a PE of the node, 64 PEs",
        ours: &["side", "ring", "64", "1"],
        against: HEAP,
        peer: HEAP_64,
    },
    Comparison {
        name: "message in 160 nodes of 64, by two threads",
        ours: &["side", "modelled", "2", "160"],
        against: "by one thread",
        peer: ALONE,
    },
    Comparison {
        name: "PE of 1,024 nodes",
        ours: &["side", "job", "1", "1024"],
        against: "a thread",
        peer: THREAD,
    },
    Comparison {
        name: "PE of 160 nodes of 64",
        ours: &["side", "job", "64", "160"],
        against: "a thread",
        peer: THREAD,
    },
];

/// Passes tokens on.
struct Ring {
    left: u64,
    next: Option<RingElementProxy>,
}

#[chare(group)]
impl Ring {
    #[entry]
    fn new(hops: u64) -> Self {
        Self { left: hops, next: None }
    }

    /// Passes a token on; a broadcast gives each PE one.
    #[entry]
    fn pass(&mut self, number: u64) {
        if self.left > 0 {
            self.left -= 1;
            let ring = self.this_collection();
            let next = || ring.on(PeId((chare::my_pe().0 + 1) % chare::pes()));
            self.next.get_or_insert_with(next).pass(number + 1);
        }
    }
}

/// A job on a network of chance, or on one that a model describes, driven by so many threads.
fn job((pes, nodes): (u32, u32), threads: Option<u32>, hops: u64) -> io::Result<()> {
    let each = hops / u64::from(nodes * pes);
    let mut job = Simulation::new(nodes, pes);
    if let Some(threads) = threads {
        job = job.model(MODEL.parse().map_err(io::Error::other)?).threads(threads);
    }
    let outcome = job.run(move || async move {
        let ring = RingProxy::create(each);
        if each > 0 {
            ring.pass(0);
        }
        chare::quiescence().await;
        chare::exit(0);
    });
    outcome.code().map(|code| assert_eq!(code, 0)).map_err(io::Error::other)
}

/// Tells what one of so many takes that `all` does.
fn each(count: u64, mut all: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    all()?;
    for _ in 0..SAMPLES {
        let began = Instant::now();
        all()?;
        tell(began.elapsed().as_nanos() as f64 / count as f64);
    }
    Ok(())
}

/// Takes the next of so many events, and puts it back at another time.
fn heap(events: u64) {
    let mut waiting: BinaryHeap<Reverse<(u64, u64)>> =
        (0..events).map(|event| Reverse((event, event))).collect();
    for hop in 0..HOPS {
        let Reverse((moment, event)) = waiting.pop().expect("all events go back");
        waiting.push(Reverse((moment + 1000 + hop % 64, event)));
    }
    black_box(waiting);
}

fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let nodes = rest.first().and_then(|nodes| nodes.parse::<u32>().ok());
    let result = match (side, nodes) {
        ("ring", Some(nodes)) => each(HOPS, || job((number as u32, nodes), None, HOPS)),
        ("modelled", Some(nodes)) => each(4 * HOPS, || job((64, nodes), Some(number as u32), 4 * HOPS)),
        ("job", Some(nodes)) => each(number * u64::from(nodes), || job((number as u32, nodes), None, 0)),
        ("heap", None) => each(HOPS, || {
            heap(number);
            Ok(())
        }),
        ("thread", None) => each(number, || {
            (0..number).for_each(|_| thread::spawn(|| black_box(())).join().expect("it does nothing"));
            Ok(())
        }),
        _ => return None,
    };
    Some(code_of(result))
}

/// Says how much memory a PE takes, and how many messages a second there are.
fn conclude() {
    let (nodes, pes) = (160, 64);
    let before = most_resident();
    if let Err(error) = job((pes, nodes), None, HOPS) {
        return eprintln!("{error}");
    }
    let bytes = most_resident().saturating_sub(before) / u64::from(nodes * pes);
    println!("{} PEs: {:.1} KiB each", nodes * pes, bytes as f64 / 1024.0);
}

fn main() -> ExitCode {
    let benchmark = Benchmark::new("Simulated jobs beside a heap of events and threads", COMPARISONS);
    benchmark.concluding(|_, _| conclude()).run(play)
}
