//! Copies that two processes make together: both do, and one that is lost in the middle ends the job in words.

use crate::kill::introduced;
use crate::run::run;
use chare_tests::{Running, counted};
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
