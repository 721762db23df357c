//! Copies that two processes make together: both do, and one that is lost in the middle ends the job in words; and long landings, for which no PE
//! of their node waits, whatever path the bytes take.

use crate::kill::introduced;
use crate::run;
use chare_tests::{Outcome, Running, counted};
use rustix::process::{Signal, kill_process};
use std::process::Command;
use std::time::Duration;

const PROGRAM: &str = env!("CARGO_BIN_EXE_shared");

fn shared(arguments: &str) -> Command {
    let mut command = Command::new(PROGRAM);
    command.args(arguments.split_whitespace());
    command
}

/// The copies by layouts of all PEs in a job of so many rounds: stepped, packed, sieved, vectored, helped with.
fn copies(arguments: &str) -> [u64; 5] {
    copies_of(shared(arguments))
}

fn copies_of(command: Command) -> [u64; 5] {
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    ["stepped", "packed", "sieved", "vectored", "helped"].map(|name| counted(&outcome.stdout, name))
}

#[test]
fn owner_and_receiver_of_a_long_selection_copy_it_together() {
    let [stepped, packed, sieved, vectored, helped] = copies("20 +n 2 +stats");
    assert_eq!([stepped, packed, sieved, vectored], [20, 0, 0, 0]);
    // Where the owner has no processor, the receiver copies alone; but not each time.
    assert!((1..=20).contains(&helped), "helped with {helped}");
}

/// Each is so long that it has an arena of its own.
#[test]
fn several_long_arrays_are_copied_in_one_pass_from_where_they_lie() {
    let [stepped, packed, sieved, vectored, _] = copies("3 3 +n 2 +stats");
    assert_eq!([stepped, packed, sieved, vectored], [3, 0, 0, 0]);
}

/// There is room for a row of arenas of the node itself, but not for one of its neighbour, too.
#[test]
fn arenas_of_neighbours_are_mapped_where_addresses_are_limited() {
    for gibibytes in [4, 24] {
        let limited = format!("ulimit -v {}; exec {PROGRAM} 3 +n 2 +stats", gibibytes << 20);
        let mut command = Command::new("sh");
        command.args(["-c", &limited]);
        let [stepped, packed, sieved, vectored, _] = copies_of(command);
        assert_eq!([stepped, packed, sieved, vectored], [3, 0, 0, 0], "{gibibytes} GiB");
    }
}

#[test]
fn what_is_not_mapped_is_not_shared() {
    for options in ["+lrts cma", "+nolocal"] {
        let [.., helped] = copies(&format!("3 +n 2 +stats {options}"));
        assert_eq!(helped, 0, "{options}");
    }
}

/// The pass to where the elements belong, out of what was packed, may be.
#[test]
fn what_is_to_be_packed_is_packed_each_time() {
    let [_, packed, sieved, vectored, _] = copies("3 +n 2 +stats +layouts pack");
    assert_eq!([packed, sieved, vectored], [3, 0, 0]);
}

#[test]
fn one_of_two_that_is_lost_in_the_middle_ends_the_job_in_words() {
    for victim in [0, 1] {
        let job = Running::start(&mut shared("+n 2"));
        let processes = introduced(&job, 2, Some("round 3"));
        kill_process(processes[&victim], Signal::KILL).expect("it runs");
        let outcome = job.end_within(Duration::from_secs(10));
        assert_ne!(outcome.code, Some(0), "node {victim}: {outcome:?}");
        assert!(outcome.complaint().contains(&format!("node {victim}")), "node {victim}: {outcome:?}");
    }
}

fn landing(options: &str) -> Outcome {
    let mut command = Command::new(env!("CARGO_BIN_EXE_landing"));
    command.args(options.split_whitespace());
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{options}: {outcome:?}");
    outcome
}

/// Ticks and calls of each way of landing.
fn counts(outcome: &Outcome) -> Vec<(String, u64, u64)> {
    let parse = |line: &str| {
        let (way, counts) = line.split_once(": ")?;
        let (ticks, calls) = counts.strip_suffix(" calls")?.split_once(" ticks, ")?;
        Some((way.to_owned(), ticks.parse().ok()?, calls.parse().ok()?))
    };
    outcome.stdout.lines().filter_map(parse).collect()
}

/// A landing takes a thousand pieces, of which a PE alone copies one at most between two entries: so it runs hundreds of entries, and
/// answers, before its landing is over. Where PEs help each other, some entry and some answer come between all the same.
#[test]
fn a_landing_disturbs_nobody() {
    for (options, ticks_min) in [
        ("+n 2 +p 1", 1000),
        ("+n 2 +p 2", 1),
        ("+n 2 +p 2 +lrts cma", 1),
        ("+n 2 +p 1 +lrts emulated", 1),
        ("+n 1 +p 1", 1000),
        ("+n 1 +p 2", 1),
    ] {
        let outcome = landing(options);
        let counts = counts(&outcome);
        assert_eq!(counts.len(), 3, "{options}: {outcome:?}");
        for (way, ticks, calls) in counts {
            let is_posted = way.starts_with("posted");
            assert!(!is_posted || ticks >= ticks_min, "{options}, {way}: {ticks} ticks");
            // Within a process, what is received is handed over, not copied.
            let is_copied = is_posted || options.starts_with("+n 2");
            assert!(!is_copied || calls > 0, "{options}, {way}: nobody answered");
        }
    }
}
