//! The probe: the program that these tests run.

use chare_tests::{Outcome, Running};
use std::process::Command;

/// The probe with these arguments.
pub(crate) fn probe(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probe"));
    command.args(arguments.split_whitespace());
    command
}

/// The probe under a shell command that takes something away first.
pub(crate) fn deprived(prelude: &str, arguments: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{prelude}; exec '{}' {arguments}", env!("CARGO_BIN_EXE_probe"))]);
    command
}

/// Runs a command to its end.
#[track_caller]
pub(crate) fn run(mut command: Command) -> Outcome {
    Running::start(&mut command).end()
}
