//! Collective costs: a call of every element of an array, and the fold of their answers; and the peer, two threads, each of which calls its half of
//! the closures and adds up what they return.
//!
//! One broadcast and one reduction over a million elements on two PEs; the table shows nanoseconds per element.

mod ours;

use chare_benches::{Batches, Comparison, Side, processor, run, take_seat};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

/// Samples of one run of a side. A batch takes some ten milliseconds.
const BATCHES: u32 = 16;

const ARRAY: Side = &["side", "array", "1000000", "+p", "2"];
const SECTION: Side = &["side", "section", "1000000", "+p", "2"];
const CLOSURES: Side = &["side", "closures", "1000000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "array", ours: ARRAY, against: "a loop that calls closures", peer: CLOSURES },
    Comparison { name: "section", ours: SECTION, against: "a loop that calls closures", peer: CLOSURES },
];

fn main() -> ExitCode {
    run("What a broadcast and a reduction cost per element", COMPARISONS, play)
}

/// Measures as one side; `number` is how many elements there are.
fn play(side: &str, number: u64, _: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    match side {
        "array" => return Some(ours::array(batches)),
        "section" => return Some(ours::section(batches)),
        "closures" => closures(batches),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

type Closure = Box<dyn FnMut(u64) -> u64 + Send>;

/// One closure for each element, with a state of its own.
fn half(first: u64, end: u64) -> Vec<Closure> {
    let closure = |mut state: u64| {
        Box::new(move |amount| {
            state += amount;
            state
        }) as Closure
    };
    (first..end).map(closure).collect()
}

fn step(closures: &mut [Closure]) -> u64 {
    closures.iter_mut().fold(0, |sum, closure| sum.wrapping_add(black_box(closure)(1)))
}

fn closures(batches: Batches) {
    let (start, end) = (Barrier::new(2), Barrier::new(2));
    let other = AtomicU64::new(0);
    let (middle, all) = (batches.operations / 2, batches.operations);
    thread::scope(|scope| {
        scope.spawn(|| {
            take_seat(processor(1));
            let mut closures = half(middle, all);
            // The first batch warms up.
            for _ in 0..=batches.count {
                start.wait();
                other.store(step(&mut closures), Ordering::Relaxed);
                end.wait();
            }
        });
        take_seat(processor(0));
        let mut closures = half(0, middle);
        batches.run(|_| {
            start.wait();
            let began = Instant::now();
            let own = step(&mut closures);
            end.wait();
            black_box(own + other.load(Ordering::Relaxed));
            began.elapsed()
        });
    });
}
