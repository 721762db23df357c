//! Aggregated call costs: a call to another process that travels together with others; and the peer, one copy of all numbers of a batch from one
//! memory to another.
//!
//! `cargo bench -p chare-benches --bench aggregation`; `benches/README.md` explains the rows.

mod ours;

use chare_benches::{Batches, Comparison, Side, run};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

/// Samples of one run of a side. With the calls of a batch they make a hundred million.
const BATCHES: u32 = 16;

const MEMBER: Side = &["side", "member", "6250000", "+n", "2"];
const MEMBER_ALONE: Side = &["side", "member-alone", "250000", "+n", "2"];
const ELEMENTS: Side = &["side", "elements", "6250000", "+n", "2"];
const ELEMENTS_ALONE: Side = &["side", "elements-alone", "250000", "+n", "2"];
const MEMCPY: Side = &["side", "memcpy", "6250000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "one member", ours: MEMBER, against: "the same, each by itself", peer: MEMBER_ALONE },
    Comparison { name: "one member", ours: MEMBER, against: "memcpy of the numbers", peer: MEMCPY },
    Comparison {
        name: "a thousand elements at random",
        ours: ELEMENTS,
        against: "the same, each by itself",
        peer: ELEMENTS_ALONE,
    },
    Comparison {
        name: "a thousand elements at random",
        ours: ELEMENTS,
        against: "memcpy of the numbers",
        peer: MEMCPY,
    },
];

fn main() -> ExitCode {
    run("What a call costs that travels together with others, to another process", COMPARISONS, play)
}

/// Measures as one side; `number` is how many calls make a batch.
fn play(side: &str, number: u64, _: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    match side {
        "member" => return Some(ours::member(batches, true)),
        "member-alone" => return Some(ours::member(batches, false)),
        "elements" => return Some(ours::elements(batches, true)),
        "elements-alone" => return Some(ours::elements(batches, false)),
        "memcpy" => memcpy(batches),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}

/// Measures the copy of a number.
fn memcpy(batches: Batches) {
    let numbers: Vec<u64> = (0..batches.operations).collect();
    let mut copy = vec![1u64; numbers.len()];
    batches.run(|count| {
        let began = Instant::now();
        black_box(&mut copy[..count as usize]).copy_from_slice(black_box(&numbers[..count as usize]));
        began.elapsed()
    });
}
