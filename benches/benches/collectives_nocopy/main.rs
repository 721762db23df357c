//! Collectives of buffers beside MPI's: broadcast, gather, all-to-all and transposition, between two processes.
//!
//! Every operation has new contents, as OSU's benchmarks advise, because caches lie otherwise; they are written before the clock is
//! started. The time is that at the first process until all have what they were to get, a barrier included on both sides. A view is read
//! where the sender has it; all else is copied into memory of the receiver. Bytes are those of one process: of its buffer, its part, its
//! slab of a matrix. The benchmark names an MPI that the machine lacks, and leaves it out.

mod ours;
mod raw;

use chare_benches::{Batches, Benchmark, Comparison, code_of, launcher};
use std::process::ExitCode;

/// Samples of one run of a side.
const BATCHES: u32 = 12;

/// The sides of one operation: how many make a batch, and of how many bytes.
macro_rules! comparisons {
    ($($what:literal $ours:literal $raw:literal: $(($bytes:literal $size:literal $operations:literal))*;)*) => {
        &[$($(
            comparison!($what $ours $raw $bytes $size $operations "Open MPI"),
            comparison!($what $ours $raw $bytes $size $operations "MPICH"),
        )*)*]
    };
}

macro_rules! comparison {
    ($what:literal $ours:literal $raw:literal $bytes:literal $size:literal $operations:literal $mpi:literal) => {
        Comparison {
            name: concat!($what, ", ", $size),
            ours: &["side", "ours", $operations, $ours, $bytes, "+n", "2"],
            against: $mpi,
            peer: &["side", "raw", $operations, $raw, $bytes, $mpi],
        }
    };
}

const COMPARISONS: &[Comparison] = comparisons! {
    "broadcast, view" "view" "broadcast": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "broadcast, copies" "copies" "broadcast": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "gather" "gather" "gather": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "all-to-all" "exchange" "exchange": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
    "transposition" "transposition" "transposition": ("65536" "64 KiB" "40")("1048576" "1 MiB" "10")("4194304" "4 MiB" "4");
};

/// Processes.
const COUNT: usize = 2;

/// Rows and columns of the matrix of doubles of which each process has a slab of so many bytes.
fn side_of(bytes: usize) -> usize {
    (bytes * COUNT / 8).isqrt()
}

fn main() -> ExitCode {
    Benchmark::new("What collectives of buffers take, beside MPI's", COMPARISONS)
        .where_possible(|comparison| launcher::is_here(comparison.against))
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [what, bytes, ..] = rest else { return None };
    let batches = Batches { operations: number, count: BATCHES };
    let bytes = bytes.parse().ok()?;
    match side {
        "ours" => Some(ours::play(what, batches, bytes)),
        "raw" if !launcher::is_launched() => Some(code_of(Err(launcher::launch(rest.get(2)?)))),
        "raw" => Some(code_of(raw::play(what, batches, bytes))),
        _ => None,
    }
}
