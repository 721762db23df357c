//! Bad input and bad surroundings: one clear line, or the job works all the same.

use crate::run::{deprived, probe, run};
use std::process::Command;

fn refused(arguments: &str, clues: &[&str]) {
    let outcome = run(probe(arguments));
    assert_ne!(outcome.code, Some(0), "`{arguments}`: {outcome:?}");
    let message = outcome.complaint();
    for clue in clues {
        assert!(message.contains(clue), "`{arguments}` mentions `{clue}`: {message}");
    }
}

#[test]
fn wrong_options_are_answered_with_the_right_ones() {
    refused("handover +stat", &["+stat", "+stats"]);
    refused("handover +nodes 2", &["+nodes"]);
    refused("handover +n 0", &["0"]);
    refused("handover +p 0", &["0"]);
    refused("handover +p 1000000", &["1000000"]);
    refused("handover +n", &["+n"]);
    refused("handover +lrts carrier-pigeon", &["carrier-pigeon", "shm", "tcp"]);
    refused("handover +pemap 9999", &["9999"]);
    refused("handover +n 2 +lrts memcpy", &["memcpy"]);
    refused("handover +n 2 +lrts shm +nolocal", &["+nolocal"]);
}

#[test]
fn help_prints_the_table_and_succeeds() {
    let outcome = run(probe("+help"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    for option in ["+p", "+n", "+lrts", "+nolocal", "+nocma", "+noshm", "+pemap", "+stats", "CHARE_P"] {
        assert!(outcome.stdout.contains(option), "`{option}` in:\n{}", outcome.stdout);
    }
}

#[test]
fn a_panic_on_any_node_is_told_once_with_its_place() {
    for (options, node) in [("+p 2", 0), ("+n 2", 1), ("+n 2 +nolocal", 1)] {
        let outcome = run(probe(&format!("panic 1 {options}")));
        assert_ne!(outcome.code, Some(0), "{options}: {outcome:?}");
        let message = outcome.complaint();
        for clue in ["Member::fail", "PE 1", &format!("node {node}"), "as asked", "probe.rs"] {
            assert!(message.contains(clue), "{options} mentions `{clue}`: {message}");
        }
    }
}

#[test]
fn the_exit_code_of_any_pe_is_the_jobs() {
    for options in ["", "+p 3", "+n 2", "+n 3 +p 2"] {
        let outcome = run(probe(&format!("exit 42 {options}")));
        assert_eq!(outcome.code, Some(42), "{options}: {outcome:?}");
    }
}

#[test]
fn a_closed_standard_output_ends_the_job_without_a_hang() {
    for options in ["+p 2", "+n 2"] {
        let mut command = Command::new("sh");
        let line = format!("'{}' print 20000 {options} | head -n 1", env!("CARGO_BIN_EXE_probe"));
        command.args(["-c", &line]);
        let outcome = run(command);
        assert!(outcome.stdout.lines().count() == 1, "{options}: {outcome:?}");
    }
}

#[test]
fn a_failure_that_nobody_can_hear_ends_the_job_all_the_same() {
    for options in ["+p 2", "+n 2"] {
        let mut command = Command::new("sh");
        let probe = env!("CARGO_BIN_EXE_probe");
        let line =
            format!("exec 3>&1; {{ '{probe}' panic 1 {options} 2>&1 >&3; echo \"code $?\" >&3; }} | true");
        command.args(["-c", &line]);
        let outcome = run(command);
        assert!(outcome.stdout.ends_with("code 1\n"), "{options}: {outcome:?}");
    }
}

#[test]
fn lines_of_all_nodes_arrive_whole() {
    let outcome = run(probe("print 200 +n 3 +p 2"));
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let lines = outcome.stdout.lines().filter(|line| line.ends_with(" of 200")).count();
    assert_eq!(lines, 6 * 200, "every line of every PE, none mixed");
}

#[test]
fn with_little_or_no_locked_memory_everything_works() {
    for limit in [0, 64] {
        for options in ["+n 2", "+n 2 +lrts cma", "+n 2 +nolocal"] {
            let outcome = run(deprived(&format!("ulimit -l {limit}"), &format!("lend {options}")));
            assert_eq!(outcome.code, Some(0), "{limit} KiB, {options}: {outcome:?}");
        }
    }
}

#[test]
fn a_full_shared_memory_file_system_does_not_matter() {
    let mut command = Command::new("unshare");
    let line = format!(
        "mount -t tmpfs -o size=4k none /dev/shm && head -c 4096 /dev/zero > /dev/shm/full && exec '{}' lend +n 2",
        env!("CARGO_BIN_EXE_probe")
    );
    command.args(["--mount", "sh", "-c", &line]);
    if !rustix::process::geteuid().is_root() {
        eprintln!("skipped: mounting a small /dev/shm needs root");
        return;
    }
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}

#[test]
fn too_few_descriptors_are_an_error_in_words() {
    let outcome = run(deprived("ulimit -n 24", "lend +n 8"));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.stderr.contains("open files") || outcome.stderr.contains("descriptor"),
        "{}",
        outcome.stderr
    );
}
