//! Killed, stopped and orphaned nodes: the job ends as it must, soon, with nothing left behind. `cargo xtask chaos` runs
//! many more.

use chare_tests::chaos::campaign::Campaign;

#[test]
fn fifty_broken_jobs_end_as_they_must() {
    let program = env!("CARGO_BIN_EXE_checked").into();
    let campaign = Campaign { program, runs: 50, seed: 1_000_000, path: None, fault: None, at_a_time: 2 };
    let summary = campaign.run(|| ());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
}
