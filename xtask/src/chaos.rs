//! `cargo xtask chaos`: the kill campaign, in full; `tests/src/chaos` describes it.

use crate::report::Report;
use crate::step::Step;
use std::time::Duration;

/// A broken job takes some tenths of a second, one whose node stays stopped some seconds.
const PATIENCE_PER_RUN: Duration = Duration::from_secs(12);

/// The jobs of a campaign.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many jobs
    #[arg(long, default_value_t = 1_000)]
    runs: u32,
    /// Seed of the first; each job has the next one
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only over this path: memcpy, shm, cma, tcp, emulated; or ofi, mpi, which need their libraries and run only when they are named
    #[arg(long)]
    path: Option<String>,
    /// Only with this fault: none, kill, stop, launcher, two
    #[arg(long)]
    fault: Option<String>,
}

/// Runs the campaign.
pub(crate) fn run(options: Options, report: &mut Report) {
    let Options { runs, seed, path, fault } = options;
    report.add(
        Step::cargo("build", "build --package chare-tests --features ofi,mpi --bin chaos --bin checked")
            .run(),
    );
    let mut step =
        Step::cargo("chaos", "run --quiet --package chare-tests --features ofi,mpi --bin chaos --")
            .argument(format!("--runs={runs}"))
            .argument(format!("--seed={seed}"))
            .within(PATIENCE_PER_RUN * runs.max(10));
    for (option, value) in [("path", path), ("fault", fault)] {
        if let Some(value) = value {
            step = step.argument(format!("--{option}={value}"));
        }
    }
    report.add(step.run());
}
