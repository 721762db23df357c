//! Collective costs: a call of every element of an array, and the fold of their answers.
//!
//! One broadcast and one reduction over a million elements on two PEs; the table shows nanoseconds per element.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, run};
use std::process::ExitCode;

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
        "closures" => peers::closures(batches),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
