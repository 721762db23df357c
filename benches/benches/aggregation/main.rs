//! Aggregated call costs: a call to another process that travels together with others.
//!
//! `cargo bench -p chare-benches --bench aggregation`; `benches/README.md` explains the rows.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, run};
use std::process::ExitCode;

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
        "memcpy" => peers::memcpy(batches),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
