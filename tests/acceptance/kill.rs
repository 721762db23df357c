//! A killed process ends the whole job: soon, with an error that names the lost node, with nothing left behind.

use crate::run::{Running, probe};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::time::Duration;

/// Runs; each kills one of two processes at another moment, over one of four paths.
const RUNS: u64 = 50;
const PATHS: [&str; 4] = ["", "+lrts cma", "+nolocal", "+lrts emulated"];

/// A small random sequence that is the same in every run of the test.
fn mix(seed: u64) -> u64 {
    let mixed = (seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32
}

fn shared_files() -> Vec<std::ffi::OsString> {
    let mut names: Vec<_> = ["/dev/shm", "/tmp"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(folder).into_iter().flatten())
        .filter_map(|entry| Some(entry.ok()?.file_name()))
        .filter(|name| name.to_string_lossy().contains("chare"))
        .collect();
    names.sort();
    names
}

/// Starts a flood between `nodes` processes over `path`, kills one in that round, and checks how the job ends.
fn kill_one((nodes, path): (u64, &str), (victim, round): (u64, u64)) {
    let context = format!("node {victim} of {nodes} killed in round {round} over `{path}`");
    let mut job = Running::start(probe(&format!("flood +n {nodes} {path}")));
    let mut processes = BTreeMap::new();
    while (processes.len() as u64) < nodes {
        let (node, pid) = job.wait_for("introduction", |line| {
            let (node, pid) = line.strip_prefix("node ")?.split_once(" has process ")?;
            Some((node.parse::<u64>().ok()?, pid.parse::<i32>().ok()?))
        });
        processes.insert(node, pid);
    }
    if round > 0 {
        let round = format!("round {round}");
        job.wait_for("round", |line| (line == round).then_some(()));
    }
    kill_process(Pid::from_raw(processes[&victim]).unwrap(), Signal::KILL).unwrap();
    let outcome = job.finish_within(Duration::from_secs(10));
    assert!(!outcome.status.success(), "{context}: {outcome:?}");
    assert!(outcome.stderr.contains(&format!("node {victim}")), "{context}: {}", outcome.stderr);
    assert_eq!(outcome.stderr.trim().lines().count(), 1, "{context}: one message: {}", outcome.stderr);
}

#[test]
fn a_killed_process_ends_the_job_and_is_named() {
    let before = shared_files();
    for number in 0..RUNS {
        let path = PATHS[(number % 4) as usize];
        kill_one((2, path), (mix(number) % 2, mix(number + RUNS) % 12));
    }
    // The node between the root of a broadcast and a leaf, and others.
    for (number, path) in (0..).zip(PATHS) {
        kill_one((6, path), ([1, 5, 0, 2][number as usize], mix(number) % 4));
    }
    assert_eq!(shared_files(), before, "no file is left behind");
}
