//! Disturbance: what a call of 8 bytes takes while 64 MiB land in the node that is called, beside the same in a quiet node.
//!
//! Each sample is the time of a call and its answer that all but 1% of a batch stay below. Landings follow each other without a pause:
//! posted in a buffer that the landing PE uses again and again, or fetched into memory of the runtime. The PE that is called is the one
//! where they land, or another one of its node, which has nothing else to do.

mod ours;

use chare_benches::{Batches, Comparison, Side, run};
use ours::{Called, Landing};
use std::num::NonZero;
use std::process::ExitCode;
use std::thread::available_parallelism;

/// Samples of one run of a side.
const BATCHES: u32 = 16;

/// One row: the same call with landings and without. What follows are the options of both.
macro_rules! row {
    ($name:literal, $landing:literal, $called:literal, $nodes:literal, $pes:literal $(, $option:literal)*) => {{
        const OURS: Side = &["side", $landing, "1000", $called, "+n", $nodes, "+p", $pes $(, $option)*];
        const QUIET: Side = &["side", "none", "1000", $called, "+n", $nodes, "+p", $pes $(, $option)*];
        Comparison { name: $name, ours: OURS, against: "nothing lands", peer: QUIET }
    }};
}

/// All rows; the options are those of rows in which another PE is called.
macro_rules! rows {
    ($($option:literal),*) => {
        &[
            row!("another PE, posted, mapped", "mapped", "other", "2", "2" $(, $option)*),
            row!("another PE, posted, CMA", "private", "other", "2", "2" $(, $option)*),
            row!("another PE, fetched, CMA", "fetched", "other", "2", "2" $(, $option)*),
            row!("another PE, posted, in process", "private", "other", "1", "3" $(, $option)*),
            row!("landing PE, posted, mapped", "mapped", "landing", "2", "1"),
            row!("landing PE, posted, CMA", "private", "landing", "2", "1"),
            row!("landing PE, fetched, CMA", "fetched", "landing", "2", "1"),
            row!("landing PE, posted, in process", "private", "landing", "1", "2"),
        ]
    };
}

/// Where each PE has a processor.
const APART: &[Comparison] = rows!();

/// Where PEs outnumber processors: those with even numbers, the caller and the one that is called, share a processor, since they wait for
/// each other anyway, and those with odd numbers, the landing one among them, the other. Left alone, the kernel would have the landing PE
/// share with either of them for some milliseconds, and the figures would be its time slices.
const ON_TWO_PROCESSORS: &[Comparison] = rows!("+pemap", "0-1");

/// Processors that [`APART`] needs.
const PES: usize = 4;

fn main() -> ExitCode {
    let processors = available_parallelism().map_or(1, NonZero::get);
    let comparisons = if processors < PES { ON_TWO_PROCESSORS } else { APART };
    run("What a call takes while 64 MiB land in its node: the slowest but 1%", comparisons, play)
}

/// Measures as one side; `calls` is how many calls make a batch.
fn play(side: &str, calls: u64, rest: &[String]) -> Option<ExitCode> {
    let landing = match side {
        "none" => None,
        "mapped" => Some(Landing::Mapped),
        "private" => Some(Landing::Private),
        "fetched" => Some(Landing::Fetched),
        _ => return None,
    };
    let called = match rest.first()?.as_str() {
        "other" => Called::Other,
        "landing" => Called::Landing,
        _ => return None,
    };
    Some(ours::calls(Batches { operations: calls, count: BATCHES }, landing, called))
}
