//! Driver: it runs this program once per path, in a process of its own each, with the layout that the path needs.
//!
//! Each run gets the whole command line, `+options` included, then its path. The layout goes by the environment, where the command
//! line wins: `+p 4` stays four PEs.

use crate::options::{Options, Path};
use clap::ValueEnum;
use std::io;
use std::path::PathBuf;
use std::process::{Command, ExitCode, ExitStatus};

/// The exit code of a job whose output nobody reads any more.
const CLOSED_OUTPUT_CODE: u8 = 141;

/// Prints every path's table and, at the end, how each run went.
pub(crate) fn run_every_path(options: &Options) -> ExitCode {
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => {
            eprintln!("this program's own file cannot be found, so it cannot run itself: {error}");
            return ExitCode::FAILURE;
        }
    };
    let mut outcomes = Vec::new();
    for path in Path::value_variants().iter().filter(|path| path.is_embedded()) {
        outcomes.push(match run(&program, *path, options) {
            Ok(status) if status.code() == Some(CLOSED_OUTPUT_CODE.into()) => {
                return CLOSED_OUTPUT_CODE.into();
            }
            Ok(status) if status.success() => (path, Ok(())),
            Ok(status) => (path, Err(format!("failed: {status}"))),
            Err(error) => (path, Err(format!("could not be started: {error}"))),
        });
    }
    // Not on standard output, where comma-separated values may be what somebody reads.
    eprintln!("paths:");
    for (path, outcome) in &outcomes {
        let outcome = outcome.as_ref().map_or_else(String::as_str, |()| "measured");
        eprintln!("  {:<9} {outcome}", path.name());
    }
    if outcomes.iter().all(|(_, outcome)| outcome.is_ok()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn run(program: &PathBuf, path: Path, options: &Options) -> io::Result<ExitStatus> {
    let (variable, value) = path.layout();
    let mut command = Command::new(program);
    command.args(std::env::args_os().skip(1)).args(["--path", path.name()]).env(variable, value);
    if let Some(plot) = &options.plot {
        command.arg("--plot").arg(plot_of(plot, path));
    }
    command.status()
}

/// `times.svg` becomes `times-shm.svg`.
fn plot_of(plot: &std::path::Path, path: Path) -> PathBuf {
    let mut name = plot.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{}.svg", path.name()));
    plot.with_file_name(name)
}
