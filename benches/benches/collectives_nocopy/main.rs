//! Collectives of buffers beside MPI's: broadcast, gather, all-to-all and transposition, between two processes and among four.
//!
//! Every operation has new contents, as OSU's benchmarks advise, because caches lie otherwise; they are written before the clock is
//! started. The time is that at the first process until all have what they were to get, a barrier included on both sides. A view is read
//! where the sender has it; all else is copied into memory of the receiver. Bytes are those of one process: of its buffer, its part, its
//! slab of a matrix. The benchmark names an MPI that the machine lacks, and leaves it out; without the feature `mpi` there is none.
//!
//! Beside each operation stands its limit, too: two threads that make nothing but the copies which it needs; beside a view, which needs none, a
//! broadcast of 8 bytes after as many were written.
//!
//! What lies in runs, with as much between them at either end, is beside the same that lies side by side, both ours.

mod dealing;
mod limit;
mod ours;
#[cfg(feature = "mpi")]
mod raw;
mod rows;

use chare_benches::launcher::Mpi;
use chare_benches::{Batches, Benchmark, Comparison, code_of};
use std::process::ExitCode;

/// Samples of one run of a side.
const BATCHES: u32 = 12;

fn main() -> ExitCode {
    Benchmark::new("What collectives of buffers take, beside MPI's", rows::COMPARISONS)
        .where_possible(is_possible)
        .run(play)
}

/// Whether the other side is no MPI, or one that is here.
fn is_possible(comparison: &Comparison) -> bool {
    Mpi::named(comparison.against).is_none_or(|mpi| cfg!(feature = "mpi") && mpi.is_here())
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [what, bytes, rest @ ..] = rest else { return None };
    let batches = Batches { operations: number, count: BATCHES };
    let bytes = bytes.parse().ok()?;
    match (side, rest) {
        ("ours", [run, ..]) => Some(ours::play(what, batches, bytes, run.parse().ok()?)),
        ("limit", [run, members]) => {
            Some(code_of(limit::play(what, batches, (bytes, run.parse().ok()?), members.parse().ok()?)))
        }
        #[cfg(feature = "mpi")]
        ("raw", [mpi, processes]) if !chare_benches::launcher::is_launched() => {
            Some(code_of(Err(Mpi::named(mpi)?.launch_processes(processes.parse().ok()?))))
        }
        #[cfg(feature = "mpi")]
        ("raw", _) => Some(code_of(raw::play(what, batches, bytes))),
        _ => None,
    }
}
