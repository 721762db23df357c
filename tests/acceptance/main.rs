//! Acceptance tests: the promises to users, seen from outside: real programs, real processes, bounded time.

use chare_tests::{Outcome, Running};
use std::process::Command;

mod denial;
#[cfg(feature = "cuda")]
mod devices;
mod flood;
mod forged;
mod idle;
mod kill;
mod limits;
mod misuse;
#[cfg(feature = "ofi")]
mod ofi;
mod seats;
mod sharing;
mod standstill;
mod stats;
#[cfg(feature = "verbs")]
mod verbs;
mod wrappers;

/// The probe with these arguments.
fn probe(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probe"));
    command.args(arguments.split_whitespace());
    command
}

/// The probe under a shell command that takes something away first.
fn deprived(prelude: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{prelude}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_probe"))]);
    command
}

/// Runs a command to its end.
#[track_caller]
fn run(mut command: Command) -> Outcome {
    Running::start(&mut command).end()
}
