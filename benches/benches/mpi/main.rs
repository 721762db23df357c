//! MPI backend costs: the time that the backend adds to an MPI's own.
//!
//! Frames of 8 bytes to and fro, and gets and puts of whole regions, through `Lrts` alone, beside a program that plays ping-pong with
//! messages of the same length, by `MPI_Send` and `MPI_Recv` of the same MPI, under the same launcher. The benchmark
//! compares the time of one way: of a get or put, until it is complete. That program has one thread and asks MPI for no more
//! (`MPI_THREAD_SINGLE`); a row of its own shows the cost of calls by several threads in turn, as the backend makes them. The benchmark
//! names an MPI that the machine lacks, and leaves it out.

mod ours;
mod raw;

use chare_benches::launcher::{self, Mpi, is_launched};
use chare_benches::{Batches, Benchmark, Comparison, code_of};
use chare_mpi_sys::Threads;
use ours::Task;
use std::io;
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

/// The sides of one MPI: who, operations of a batch, which MPI, what, bytes of an operation.
macro_rules! comparisons {
    ($($mpi:literal)*) => {
        &[$(
            Comparison {
                name: concat!("8 B frame, ", $mpi),
                ours: &["side", "ours", "10000", $mpi, "message", "8"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", "10000", $mpi, "message", "8"],
            },
            Comparison {
                name: concat!("8 B frame, threads, ", $mpi),
                ours: &["side", "ours", "10000", $mpi, "message", "8"],
                against: "the same, MPI_THREAD_SERIALIZED",
                peer: &["side", "raw-serialized", "10000", $mpi, "message", "8"],
            },
            Comparison {
                name: concat!("get 1 MiB, ", $mpi),
                ours: &["side", "ours", "20", $mpi, "get", "1048576"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", "20", $mpi, "message", "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, ", $mpi),
                ours: &["side", "ours", "20", $mpi, "put", "1048576"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", "20", $mpi, "message", "1048576"],
            },
            Comparison {
                name: concat!("get 8 MiB, ", $mpi),
                ours: &["side", "ours", "4", $mpi, "get", "8388608"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", "4", $mpi, "message", "8388608"],
            },
        )*]
    };
}

const COMPARISONS: &[Comparison] = comparisons! { "Open MPI" "MPICH" "Open MPI 5" "MPICH 5" "Intel MPI" };

fn main() -> ExitCode {
    Benchmark::new("What the MPI backend takes, beside bare MPI", COMPARISONS)
        .where_possible(|comparison| launcher::is_here(comparison.ours[3]))
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [mpi, what, bytes] = rest else { return None };
    let mpi = Mpi::named(mpi)?;
    let task = Task {
        mpi,
        what,
        batches: Batches { operations: number, count: BATCHES },
        bytes: bytes.parse().ok()?,
    };
    let result = match side {
        _ if !is_launched() => Err(mpi.launch()),
        "ours" => ours::play(task).map_err(io::Error::other),
        "raw" => raw::play(task, Threads::Single),
        "raw-serialized" => raw::play(task, Threads::Serialized),
        _ => return None,
    };
    Some(code_of(result))
}
