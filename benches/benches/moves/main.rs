//! Moves: what it costs that an element of an array moves to another PE, and what its state has to do with it; and the peers, the least that a move
//! could take.
//!
//! `cargo bench -p chare-benches --bench moves`; each row names its peer.

mod ours;

use chare_benches::{Batches, Comparison, Side, processor, run, take_seat};
use crossbeam_queue::SegQueue;
use std::hint::{black_box, spin_loop};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const CALL: Side = &["side", "call", "20000", "+p", "2"];
const SMALL: Side = &["side", "walk", "10000", "64", "+p", "2"];
const BOUND: Side = &["side", "walk-bound", "10000", "64", "+p", "2"];
const BOUND_OUT: Side = &["side", "walk-bound", "2000", "64", "+n", "2"];
const MEBIBYTE: Side = &["side", "walk", "10000", "1048576", "+p", "2"];
const GIBIBYTE: Side = &["side", "walk", "10000", "1073741824", "+p", "2"];
const ROTATION: Side = &["side", "rotate", "20000", "+p", "2"];
const BOXES: Side = &["side", "boxes", "20000"];
const SMALL_OUT: Side = &["side", "walk", "2000", "64", "+n", "2"];
const CALL_OUT: Side = &["side", "call", "2000", "+n", "2"];
const MEBIBYTE_OUT: Side = &["side", "walk", "100", "1048576", "+n", "2"];
const COPY: Side = &["side", "copy", "100", "1048576"];
const SYNC: Side = &["side", "sync", "50000"];
const SELF_CALL: Side = &["side", "self-call", "50000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "inside a process, 64 B", ours: SMALL, against: "a call to the other PE", peer: CALL },
    Comparison { name: "inside a process, bound to another", ours: BOUND, against: "alone", peer: SMALL },
    Comparison { name: "inside a process, 1 MiB Vec", ours: MEBIBYTE, against: "with 64 B", peer: SMALL },
    Comparison { name: "inside a process, 1 GiB Vec", ours: GIBIBYTE, against: "with 64 B", peer: SMALL },
    Comparison {
        name: "all of 10,000, 1 KiB each",
        ours: ROTATION,
        against: "boxes over SegQueue",
        peer: BOXES,
    },
    Comparison {
        name: "between processes, 64 B",
        ours: SMALL_OUT,
        against: "a call to the other PE",
        peer: CALL_OUT,
    },
    Comparison {
        name: "between processes, bound to another",
        ours: BOUND_OUT,
        against: "alone",
        peer: SMALL_OUT,
    },
    Comparison {
        name: "between processes, 1 MiB Vec",
        ours: MEBIBYTE_OUT,
        against: "memcpy of 1 MiB",
        peer: COPY,
    },
    Comparison { name: "sync without a balancer", ours: SYNC, against: "call of itself", peer: SELF_CALL },
];

fn main() -> ExitCode {
    run("What it costs that elements move", COMPARISONS, play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let bytes = rest.first().and_then(|bytes| bytes.parse().ok());
    match (side, bytes) {
        ("call", _) => return Some(ours::call(batches)),
        ("walk", Some(bytes)) => return Some(ours::walk(batches, bytes)),
        ("walk-bound", Some(bytes)) => return Some(ours::walk_bound(batches, bytes)),
        ("rotate", _) => return Some(ours::rotate(batches)),
        ("sync", _) => return Some(ours::sync(batches)),
        ("self-call", _) => return Some(ours::call_itself(batches)),
        ("boxes", _) => boxes(batches),
        ("copy", Some(bytes)) => copy(batches, bytes),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Measures one box of a state, made on one thread and dropped on another.
fn boxes(batches: Batches) {
    let (queue, is_over) = (SegQueue::new(), AtomicBool::new(false));
    thread::scope(|scope| {
        take_seat(processor(0));
        scope.spawn(|| {
            take_seat(processor(1));
            while !is_over.load(Ordering::Acquire) {
                while let Some(state) = queue.pop() {
                    drop::<Box<[u64; 8]>>(black_box(state));
                }
                spin_loop();
            }
        });
        batches.run(|times| {
            let began = Instant::now();
            for number in 0..times {
                queue.push(Box::new([number; 8]));
            }
            while !queue.is_empty() {
                spin_loop();
            }
            began.elapsed()
        });
        is_over.store(true, Ordering::Release);
    });
}

/// Measures one copy of so many bytes.
fn copy(batches: Batches, bytes: u64) {
    let (source, mut target) = (vec![1_u8; bytes as usize], vec![0_u8; bytes as usize]);
    batches.run(|times| {
        let began = Instant::now();
        for _ in 0..times {
            target.copy_from_slice(black_box(&source));
            black_box(&mut target);
        }
        began.elapsed()
    });
}
