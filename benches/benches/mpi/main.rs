//! What does the MPI backend add to what an MPI takes by itself?
//!
//! Frames of 8 bytes to and fro, and gets and puts of whole regions, through `Lrts` alone, beside a program that plays ping-pong with
//! messages of the same length, by `MPI_Send` and `MPI_Recv` of the same MPI, under the same launcher. What is compared is the
//! time of one way: of a get or put, until it is complete. An MPI that is not here is told and left out.

mod ours;
mod raw;

use chare_benches::{Batches, Comparison, compare};
use clap::Parser;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

/// What starts two processes of each MPI.
const LAUNCHERS: [(&str, &str); 2] = [
    ("Open MPI", "mpirun.openmpi --allow-run-as-root --oversubscribe -n 2"),
    ("MPICH", "mpiexec.hydra -n 2"),
];

/// The sides of one MPI: who, which MPI, what, operations of a batch, bytes of an operation.
macro_rules! comparisons {
    ($($mpi:literal)*) => {
        &[$(
            Comparison {
                name: concat!("8 B frame, ", $mpi),
                ours: &["side", "ours", $mpi, "message", "10000", "8"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", $mpi, "message", "10000", "8"],
            },
            Comparison {
                name: concat!("get 1 MiB, ", $mpi),
                ours: &["side", "ours", $mpi, "get", "20", "1048576"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", $mpi, "message", "20", "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, ", $mpi),
                ours: &["side", "ours", $mpi, "put", "20", "1048576"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", $mpi, "message", "20", "1048576"],
            },
            Comparison {
                name: concat!("get 8 MiB, ", $mpi),
                ours: &["side", "ours", $mpi, "get", "4", "8388608"],
                against: "MPI_Send, MPI_Recv",
                peer: &["side", "raw", $mpi, "message", "4", "8388608"],
            },
        )*]
    };
}

const COMPARISONS: &[Comparison] = comparisons! { "Open MPI" "MPICH" };

/// What the MPI backend takes, beside bare MPI.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only comparisons whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// What a side does.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    what: &'a str,
    batches: Batches,
    bytes: usize,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [first, who, mpi, what, operations, bytes] = &words[..] else { return run() };
    if let ("side", Ok(operations), Ok(bytes)) = (first.as_str(), operations.parse(), bytes.parse()) {
        if !is_launched() {
            return code_of(launch(mpi));
        }
        let task = Task { what, batches: Batches { operations, count: BATCHES }, bytes };
        return match who.as_str() {
            "ours" => code_of(ours::play(task).map_err(io::Error::other)),
            _ => code_of(raw::play(task)),
        };
    }
    run()
}

fn run() -> ExitCode {
    let Arguments { rounds, filter, .. } = Arguments::parse();
    let filter = filter.unwrap_or_default();
    let is_selected =
        |comparison: &&Comparison| comparison.name.contains(&filter) && is_here(comparison.ours[2]);
    let selected: Vec<Comparison> = COMPARISONS.iter().filter(is_selected).copied().collect();
    code_of(compare(&selected, rounds).map(drop))
}

/// Whether this is one of the processes of an MPI.
fn is_launched() -> bool {
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"].iter().any(|name| std::env::var_os(name).is_some())
}

fn launcher(mpi: &str) -> Vec<&'static str> {
    let found = LAUNCHERS.iter().find(|(name, _)| *name == mpi);
    found.map(|(_, command)| command.split(' ').collect()).unwrap_or_default()
}

/// Becomes the launcher of this side.
fn launch(mpi: &str) -> io::Result<()> {
    let command = launcher(mpi);
    let (first, others) = command.split_first().ok_or_else(|| io::Error::other(format!("no `{mpi}`")))?;
    let mut launcher = Command::new(first);
    launcher
        .args(others)
        .arg(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .stdin(Stdio::null());
    Err(launcher.exec())
}

/// Whether an MPI's launcher can be started; says so if not.
fn is_here(mpi: &str) -> bool {
    let command = launcher(mpi);
    let answer = command.first().map(|first| Command::new(first).arg("--version").output());
    let is_here = matches!(answer, Some(Ok(_)));
    if !is_here {
        println!("skipped: {mpi} is not here");
    }
    is_here
}

fn code_of(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
