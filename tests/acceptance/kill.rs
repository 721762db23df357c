//! Killed, stopped and orphaned nodes: the job ends as it must, soon, with nothing left behind. `cargo xtask chaos` runs
//! many more.

use crate::{probe, run};
use chare_tests::chaos::campaign::Campaign;
use chare_tests::{Running, wait_for_end};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

/// The processes of all nodes, once these have said theirs and one of them has said `sign`: lines of several nodes come in any order.
pub(crate) fn introduced(job: &Running, nodes: usize, sign: Option<&str>) -> BTreeMap<u32, Pid> {
    let mut processes = BTreeMap::new();
    let mut is_awaited = sign.is_some();
    while processes.len() < nodes || is_awaited {
        let line = job.wait_for("introductions", |line| Some(line.to_owned()));
        is_awaited &= Some(&*line) != sign;
        let introduction = line.strip_prefix("node ").and_then(|line| line.split_once(" has process "));
        if let Some((node, process)) = introduction {
            let process = process.parse().ok().and_then(Pid::from_raw).expect("a process has a number");
            processes.insert(node.parse().expect("so has a node"), process);
        }
    }
    processes
}

/// Starts a flood between six processes over `path`, kills one in that round, and checks how the job ends.
pub(crate) fn kill_one(path: &str, (victim, round): (u32, u32)) {
    let context = format!("node {victim} of 6 killed in round {round} over `{path}`");
    let job = Running::start(&mut probe(&format!("flood +n 6 {path}")));
    let sign = (round > 0).then(|| format!("round {round}"));
    let processes = introduced(&job, 6, sign.as_deref());
    kill_process(processes[&victim], Signal::KILL).unwrap();
    let outcome = job.end_within(Duration::from_secs(10));
    assert_ne!(outcome.code, Some(0), "{context}: {outcome:?}");
    assert!(outcome.complaint().contains(&format!("node {victim}")), "{context}: {outcome:?}");
}

#[test]
fn fifty_broken_jobs_end_as_they_must() {
    let program = env!("CARGO_BIN_EXE_checked").into();
    let campaign = Campaign { program, runs: 50, seed: 1_000_000, path: None, fault: None, at_a_time: 2 };
    let summary = campaign.run(|| ());
    println!("{summary}");
    assert!(summary.failures.is_empty(), "{summary}");
}

#[test]
fn a_lost_node_of_a_broadcast_tree_ends_the_job_wherever_it_stands() {
    // The node between the root and a leaf, a leaf, the root, and another leaf.
    kill_one("", (1, 0));
    kill_one("+lrts cma", (5, 3));
    kill_one("+nolocal", (0, 2));
    kill_one("+lrts emulated", (2, 1));
}

/// Kills a node that holds what was lent to it, or that has lent it, while both have nothing to do or send each other more.
fn kill_owing(path: &str, victim: u32, manner: &str) {
    let context = format!("node {victim} of 2 killed, `owe {manner}` over `{path}`");
    let mut command = Command::new(env!("CARGO_BIN_EXE_pressed"));
    command.arg("owe").args(manner.split_whitespace()).args(["+n", "2"]).args(path.split_whitespace());
    let job = Running::start(&mut command);
    let process = introduced(&job, 2, Some("owing"))[&victim];
    kill_process(process, Signal::KILL).unwrap();
    let outcome = job.end_within(Duration::from_secs(10));
    assert_ne!(outcome.code, Some(0), "{context}: {outcome:?}");
    let complaint = outcome.complaint();
    assert!(complaint.contains(&format!("node {victim}")), "{context}: {outcome:?}");
    for wrong in ["invalid", "panicked"] {
        assert!(!complaint.contains(wrong), "{context}: {outcome:?}");
    }
}

#[test]
fn a_node_that_dies_while_buffers_are_owed_is_named() {
    std::thread::scope(|scope| {
        for path in ["", "+noshm", "+nolocal", "+lrts emulated"] {
            scope.spawn(move || {
                for (victim, manner) in [(0, ""), (1, ""), (0, "busily"), (1, "busily")] {
                    kill_owing(path, victim, manner);
                }
            });
        }
    });
}

/// Longer than any limit on silence within a job: TCP's keepalive has the longest, 10 s.
const STOPPED: Duration = Duration::from_secs(12);

/// Stops one of two nodes for a while, and lets it go on.
fn stop_one(path: &str, victim: u32) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pressed"));
    command.args(["answer", "10", "+n", "2"]).args(path.split_whitespace());
    let job = Running::start(&mut command);
    let process = introduced(&job, 2, Some("asking"))[&victim];
    kill_process(process, Signal::STOP).unwrap();
    std::thread::sleep(STOPPED);
    kill_process(process, Signal::CONT).unwrap();
    let outcome = job.end();
    assert_eq!(outcome.code, Some(0), "{path}: {outcome:?}");
    let told = format!("node {victim} (pid {process}) was stopped by signal 19 (SIGSTOP)");
    assert!(outcome.complaint().contains(&told), "{path}: {outcome:?}");
}

#[test]
fn a_stopped_node_is_awaited_on_every_path() {
    std::thread::scope(|scope| {
        for (victim, path) in [(0, ""), (1, "+nocma"), (1, "+nolocal"), (0, "+lrts tcp")] {
            scope.spawn(move || stop_one(path, victim));
        }
    });
}

/// The launcher gets no chance to end anybody.
#[test]
fn what_nodes_have_started_ends_with_a_killed_launcher() {
    let job = Running::start(&mut probe("employ +n 2"));
    job.wait_for("both", |line| (line == "idle").then_some(()));
    job.signal(Signal::KILL);
    // It fails if any process is left.
    assert_eq!(job.end_within(Duration::from_secs(10)).code, None);
}

/// A probe of two nodes with their processes, once it has said `sign`.
fn two_nodes(arguments: &str, sign: &str) -> (Running, BTreeMap<u32, Pid>) {
    let job = Running::start(&mut probe(&format!("{arguments} +n 2")));
    let processes = introduced(&job, 2, Some(sign));
    (job, processes)
}

#[test]
fn a_program_that_waits_for_a_signal_hears_of_it_wherever_it_comes() {
    for (signal, to) in
        [(Signal::INT, &[0, 1][..]), (Signal::TERM, &[0, 1]), (Signal::TERM, &[0]), (Signal::INT, &[1])]
    {
        let (job, processes) = two_nodes("heed", "heeds");
        to.iter().for_each(|node| kill_process(processes[node], signal).expect("it runs"));
        let outcome = job.end();
        assert_eq!((outcome.code, &*outcome.stderr), (Some(0), ""), "{signal:?} to {to:?}: {outcome:?}");
        assert!(outcome.stdout.ends_with("asked\n"), "{signal:?} to {to:?}: {outcome:?}");
    }
}

#[test]
fn a_later_signal_ends_the_process_that_gets_it() {
    for node in [0, 1] {
        let (job, processes) = two_nodes("heed not", "heeds");
        kill_process(processes[&node], Signal::TERM).expect("it runs");
        job.wait_for("the request", |line| (line == "asked").then_some(()));
        let mut sent = 0;
        while !wait_for_end(processes[&node], Instant::now() + Duration::from_millis(100)) {
            sent += 1;
            assert!(sent < 100, "node {node} outlives every signal");
            let _ = kill_process(processes[&node], Signal::TERM);
        }
        let outcome = job.end();
        assert_eq!(outcome.code, Some(143), "node {node}: {outcome:?}");
        let words = format!("node {node} (pid {}) was killed by signal 15 (SIGTERM)", processes[&node]);
        assert!(outcome.complaint().contains(&words), "{outcome:?}");
    }
}

/// As it would without the other nodes' patience.
#[test]
fn a_signal_ends_a_job_that_does_not_wait_for_one() {
    for to in [&[0, 1][..], &[0], &[1]] {
        let (job, processes) = two_nodes("idle", "idle");
        to.iter().for_each(|node| kill_process(processes[node], Signal::INT).expect("it runs"));
        let outcome = job.end();
        assert_eq!(outcome.code, Some(130), "{to:?}: {outcome:?}");
        assert!(outcome.complaint().contains("SIGINT"), "{to:?}: {outcome:?}");
    }
}

/// A library's exit handler takes apart what its threads still use.
#[test]
fn exit_handlers_do_not_run_while_pes_are_in_entries() {
    for options in ["+n 2 +p 2", "+p 2"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pressed"));
        command.arg("stuck").args(options.split_whitespace());
        let outcome = run(command);
        assert!(outcome.code == Some(1) && outcome.stderr.contains("as asked"), "{options}: {outcome:?}");
        assert!(!outcome.stderr.contains("handled"), "{options}: {outcome:?}");
        for words in ["Rust's last words ", "and C's "] {
            assert!(outcome.stdout.contains(words), "{options}: what was printed is printed: {outcome:?}");
        }
    }
}
