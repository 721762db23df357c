//! `cargo xtask simulate`: the tests of the runtime in simulated jobs, by many seeds.
//!
//! Every program that has to pass on each path between nodes (`runtime/tests/every_path`) runs with each seed; a test that fails names the
//! seed, and `--replay SEED` runs that one again, the same to the last bit.

use crate::report::Report;
use crate::step::Step;
use std::time::Duration;

/// Some hundred programs of some milliseconds each.
const PATIENCE_PER_SEED: Duration = Duration::from_secs(60);

/// The jobs of a campaign.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// How many seeds
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Only this seed
    #[arg(long, conflicts_with_all = ["seeds", "first"])]
    replay: Option<u64>,
    /// Only tests whose names have this
    #[arg(long)]
    test: Option<String>,
}

/// Runs the campaign.
pub(crate) fn run(options: Options, report: &mut Report) {
    let Options { seeds, first, replay, test } = options;
    let (first, seeds) = replay.map_or((first, seeds), |seed| (seed, 1));
    let patience = PATIENCE_PER_SEED * u32::try_from(seeds).unwrap_or(u32::MAX).max(10);
    let mut step = Step::cargo(
        "simulation",
        "test --package chare --features sim --profile simulation --tests --no-fail-fast",
    )
    .environment("CHARE_TEST_SEEDS", format!("{first}+{seeds}"))
    .within(patience);
    if let Some(test) = test {
        step = step.argument(test);
    }
    report.add(step.run());
}
