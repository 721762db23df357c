//! Overlap: what a program that computes notices of broadcasts and gathers of buffers, where its process has one PE that does not compute.
//!
//! Rebuilds the benchmarks of the design's seed, blocking collectives that return at once and leave their copies to an engine: a broadcast
//! and a gather with computing, and an application that makes both in each of its steps. PE 0 is the program and has all members; PE 1
//! has none, and so is the engine. Beside it the program's own processor makes the same copies at once, and then computes.
//!
//! Overlap is what OSU's benchmarks of non-blocking collectives call so: 100% less the time by which the program takes longer than it
//! computes, as a share of the time that its own processor takes for the copies. Both come from ratios to the computing alone. The
//! computing is a chain of arithmetic of a fixed length, and no look at the clock, so that it takes longer where something disturbs it.

mod at_once;
mod computing;
mod ours;

use at_once::{Collectives, MEMBERS};
use chare_benches::{Batches, Benchmark, Comparison};
use std::process::ExitCode;

/// Samples of one run of a side.
const BATCHES: u32 = 12;

/// What ends the names of rows from which overlap is computed: the two stand side by side.
const OVERLAPPED: &str = ", beside computing";

/// The rows of a collective of one size.
macro_rules! rows {
    ($($collective:literal: $(($bytes:literal $size:literal $operations:literal))*;)*) => {
        &[$($(
            Comparison {
                name: concat!($collective, ", ", $size, ", beside computing"),
                ours: &["side", "ours", $operations, $collective, $bytes, "computing", "+p", "2"],
                against: "computing alone",
                peer: &["side", "none", $operations, $collective, $bytes, "computing", "+p", "2"],
            },
            Comparison {
                name: concat!($collective, ", ", $size, ", at once"),
                ours: &["side", "at-once", $operations, $collective, $bytes, "computing", "+p", "2"],
                against: "computing alone",
                peer: &["side", "none", $operations, $collective, $bytes, "computing", "+p", "2"],
            },
            Comparison {
                name: concat!($collective, ", ", $size, ", alone"),
                ours: &["side", "ours", $operations, $collective, $bytes, "nothing", "+p", "2"],
                against: "at once",
                peer: &["side", "at-once", $operations, $collective, $bytes, "nothing", "+p", "2"],
            },
            Comparison {
                name: concat!($collective, ", ", $size, ", alone, one PE"),
                ours: &["side", "ours", $operations, $collective, $bytes, "nothing", "+p", "1"],
                against: "at once",
                peer: &["side", "at-once", $operations, $collective, $bytes, "nothing", "+p", "2"],
            },
        )*)*]
    };
}

const COMPARISONS: &[Comparison] = rows! {
    "broadcast": ("2097152" "2 MiB" "10")("4194304" "4 MiB" "6")("8388608" "8 MiB" "4")("16777216" "16 MiB" "2");
    "gather": ("2097152" "2 MiB" "10")("4194304" "4 MiB" "6")("8388608" "8 MiB" "4")("16777216" "16 MiB" "2");
    "application": ("2097152" "2 MiB" "6")("16777216" "16 MiB" "2");
};

fn main() -> ExitCode {
    Benchmark::new("What a program that computes notices of collectives of buffers", COMPARISONS)
        .concluding(conclude)
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [collective, bytes, computing, ..] = rest else { return None };
    let collectives = match &**collective {
        "broadcast" => Collectives { broadcasts: true, gathers: false },
        "gather" => Collectives { broadcasts: false, gathers: true },
        "application" => Collectives { broadcasts: true, gathers: true },
        _ => return None,
    };
    let bytes = bytes.parse().ok()?;
    let copied = bytes * MEMBERS * (usize::from(collectives.broadcasts) + usize::from(collectives.gathers));
    let steps = if computing == "computing" { computing::steps_beside(copied) } else { 0 };
    let batches = Batches { operations: number, count: BATCHES };
    match side {
        "ours" => Some(ours::play(collectives, bytes, steps, batches)),
        "at-once" => Some(at_once::play(collectives, bytes, steps, batches)),
        "none" => {
            Some(at_once::play(Collectives { broadcasts: false, gathers: false }, bytes, steps, batches))
        }
        _ => None,
    }
}

/// Says the overlap that follows from two rows: collectives beside computing, and at once before it.
fn conclude(comparisons: &[Comparison], ratios: &[f64]) {
    for (position, comparison) in comparisons.iter().enumerate() {
        let is_pair = comparison.name.ends_with(OVERLAPPED);
        if let (Some(beside), Some(before)) = (ratios.get(position), ratios.get(position + 1))
            && is_pair
        {
            let overlap = 100.0 * (1.0 - (beside - 1.0) / (before - 1.0));
            println!("{}: {overlap:.0}% of its copies' time is overlapped", comparison.name);
        }
    }
}
