//! Forged handles in ordinary calls: nothing is read or written but the memory that they name rightly, and the caller hears
//! why. `CHARE_TEST_FORGED` sets how many for each path; `cargo xtask soak` makes them a million.

use chare_tests::Running;
use std::process::Command;
use std::time::Duration;

/// Handles for each path in the suite.
const COUNT: u64 = 5_000;

/// A million of them take some minutes by messages, on two cores.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

#[test]
fn forged_handles_reach_nothing_by_the_direct_api() {
    let asked = std::env::var("CHARE_TEST_FORGED").ok().and_then(|count| count.parse().ok());
    let count: u64 = asked.unwrap_or(COUNT);
    for (seed, options) in ["", "+lrts cma", "+lrts emulated", "+nolocal"].into_iter().enumerate() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_forged"));
        let arguments = format!("--count {count} --seed {seed} +n 2 {options}");
        let outcome = Running::start_within(command.args(arguments.split_whitespace()), PATIENCE).end();
        assert!(outcome.code == Some(0) && outcome.stderr.is_empty(), "{options}: {outcome:?}");
        let counts = outcome.stdout.trim();
        assert!(counts.starts_with("right: "), "{options}: {outcome:?}");
        println!("{options:<14} {counts}");
    }
}
