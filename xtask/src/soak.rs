//! `cargo xtask soak`: the suite's repetitions, a million on each path instead of some thousand, and checks that are too large
//! for the suite.

use crate::report::Report;
use crate::step::Step;
use std::time::Duration;

/// Forged handles per run of the conformance check, whose watchdog knows no more patience; and runs, so that they are a million.
const FORGED: u32 = 100_000;
const FORGED_RUNS: u32 = 10;

const MILLION: &str = "1000000";

const TEN_MILLION: &str = "10000000";

/// A million transfers on the slowest path take some minutes on two cores.
const PATIENCE: Duration = Duration::from_secs(45 * 60);

/// Builds in release, then forges handles, floods nodes, moves buffers, and runs the ports of Charm++'s tests of long messages.
pub(crate) fn run(report: &mut Report) {
    for seed in 1..=FORGED_RUNS {
        let check = "test --release --package chare-tests --test conformance -- forged_handles";
        let step = Step::cargo(&format!("forged {seed}"), check)
            .environment("CHARE_TEST_FORGED", FORGED.to_string())
            .environment("CHARE_TEST_SEED", seed.to_string());
        report.add(step.run());
    }
    let calls = "test --release --package chare-tests --test acceptance -- --nocapture forged_handles";
    let step = Step::cargo("forged in calls", calls).environment("CHARE_TEST_FORGED", MILLION);
    report.add(step.within(PATIENCE).run());
    let floods =
        "test --release --package chare-tests --test acceptance -- --nocapture --test-threads=1 flood::";
    let step = Step::cargo("floods", floods).environment("CHARE_TEST_FLOOD", TEN_MILLION).within(PATIENCE);
    report.add(step.run());
    let leaks = "test --release --package chare --test soak -- --nocapture --test-threads=1";
    let step = Step::cargo("transfers", leaks).environment("CHARE_TEST_TRANSFERS", MILLION).within(PATIENCE);
    report.add(step.run());
    let large =
        "test --release --package chare-tests --test zerocopy -- --ignored --nocapture --test-threads=1";
    report.add(Step::cargo("ports beyond 4 GiB", large).within(PATIENCE).run());
}
