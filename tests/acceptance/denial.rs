//! Denied copies: the kernel forbids copies between processes, from the start or half-way. Messages carry the data instead, the
//! user is told once, and nothing is lost; where nothing else is allowed, the job ends with one sentence.

use crate::run;
use chare_tests::{Outcome, Row};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Transfers of one PE before the denial, and after it: 500 reads, 500 writes, and a last read.
pub(crate) const HALF: u64 = 1_001;

/// Nobody's user and group.
const NOBODY: u32 = 65_534;

pub(crate) fn denied(program: &str, arguments: &str) -> Command {
    let mut command = Command::new(program);
    command.args(arguments.split_whitespace());
    command
}

/// Copies and emulated transfers from one of two nodes to the other, as `+stats` tells.
fn used(outcome: &Outcome, node: u32) -> (u64, u64) {
    (count(outcome, node, "kernel copies"), count(outcome, node, "emulated transfers"))
}

/// Transfers of one kind from one of two nodes to the other, as `+stats` tells.
pub(crate) fn count(outcome: &Outcome, node: u32, what: &str) -> u64 {
    let start = format!("node {node} -> node {}: ", 1 - node);
    let line = outcome.stdout.lines().find(|line| line.starts_with(&start));
    let (_, used) = line.and_then(|line| line.split_once("; used: ")).expect("`+stats` tells what was used");
    let words: Vec<&str> = used.split_whitespace().collect();
    let at = words.windows(2).position(|pair| pair.join(" ") == what);
    at.map_or(0, |at| words[at - 1].parse().expect("a count stands before"))
}

/// A program of ours where every user may start it.
fn for_everybody(folder: &Path, program: &str) -> String {
    let allow = |path: &Path| std::fs::set_permissions(path, PermissionsExt::from_mode(0o755));
    let copy = folder.join("program");
    std::fs::copy(program, &copy).expect("a temporary folder has room");
    allow(folder).and_then(|()| allow(&copy)).expect("they are ours");
    copy.to_string_lossy().into_owned()
}

/// Whether this process may become other users; says what is skipped if not.
pub(crate) fn is_root() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    if !is_root {
        eprintln!("skipped: becoming another user, or one with other rights, needs root");
    }
    is_root
}

#[track_caller]
pub(crate) fn is_right(outcome: &Outcome) {
    assert!(outcome.code == Some(0) && outcome.stdout.contains("right"), "{outcome:?}");
}

#[track_caller]
fn is_right_with_one_warning(outcome: &Outcome, of: &str) {
    is_right(outcome);
    assert!(outcome.complaint().contains(of), "{outcome:?}");
}

#[test]
fn a_denial_after_a_thousand_copies_loses_nothing() {
    let program = env!("CARGO_BIN_EXE_denied");
    for options in ["", "+noshm", "+lrts cma", "+lrts tcp"] {
        let outcome = run(denied(program, &format!("--deny sandbox --on 0 +n 2 +stats {options}")));
        is_right_with_one_warning(&outcome, "node 0: copying between processes with node 1 failed");
        assert_eq!(used(&outcome, 0), (HALF, HALF), "{options}: the filtered process: {outcome:?}");
        assert_eq!(used(&outcome, 1), (2 * HALF, 0), "{options}: the other one: {outcome:?}");
    }
}

#[test]
fn descriptors_that_run_out_in_the_middle_lose_nothing() {
    let program = env!("CARGO_BIN_EXE_denied");
    for (options, is_mapped) in [
        ("", true),
        ("+lrts shm", true),
        ("+lrts cma", false),
        ("+nolocal", false),
        ("+lrts emulated", false),
    ] {
        for node in [0, 1] {
            let arguments = format!("--deny descriptors --on {node} --shareable --rounds 20 +n 2 {options}");
            let outcome = run(denied(program, &arguments));
            is_right(&outcome);
            // It shares no more than before, and it cannot map what the other one shares.
            for trouble in
                ["a buffer of 8388608 bytes is not shareable", "raise `ulimit -n`; the kernel copies"]
            {
                let start = format!("warning: node {node}: ");
                let lines = outcome.stderr.lines().filter(|line| line.starts_with(&start));
                let told = lines.filter(|line| line.contains(trouble)).count();
                assert_eq!(told, usize::from(is_mapped), "{options}: {trouble}: {outcome:?}");
            }
        }
    }
}

#[test]
fn what_a_layout_selects_arrives_where_its_memory_cannot_be_mapped_any_more() {
    let program = env!("CARGO_BIN_EXE_denied");
    for (options, is_mapped) in [("", true), ("+lrts shm", true), ("+nolocal", false)] {
        let arguments =
            format!("--deny descriptors --on 1 --shareable --laid-out --rounds 5 +n 2 +stats {options}");
        let outcome = run(denied(program, &arguments));
        is_right(&outcome);
        // Of the second half, whose memory the other node shares and this one cannot map.
        let rows = Row::all(&outcome.stdout);
        let row = rows.iter().find(|row| row.name == "node 1 outside, layouts");
        let row = row.expect("`+stats` tells of layouts");
        let count = |of: &str| row.count(of).expect("every method has its count");
        // By the kernel, whichever way is quicker, or fetched with all that lies between.
        let read = count("sieved") + count("vectored");
        assert_eq!(read, if is_mapped { 10 } else { 0 }, "{options}: {outcome:?}");
    }
}

#[test]
fn a_process_that_hides_after_a_thousand_copies_is_reached_by_messages() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = for_everybody(folder.path(), env!("CARGO_BIN_EXE_denied"));
    // Root looks at whatever it likes.
    let mut command = denied(&program, "--deny undumpable --on 1 +n 2 +stats");
    command.uid(NOBODY).gid(NOBODY);
    let outcome = run(command);
    is_right_with_one_warning(&outcome, "node 0: copying between processes with node 1 failed");
    assert_eq!(used(&outcome, 0), (HALF, HALF), "{outcome:?}");
    assert_eq!(used(&outcome, 1), (2 * HALF, 0), "{outcome:?}");
}

#[test]
fn processes_of_different_users_use_messages_or_end_in_words() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = for_everybody(folder.path(), env!("CARGO_BIN_EXE_denied"));
    let outcome = run(denied(&program, "--users +n 2 +stats"));
    is_right(&outcome);
    for node in [0, 1] {
        assert_eq!(used(&outcome, node), (0, 2 * HALF), "{outcome:?}");
        let start = format!("warning: node {node}: ");
        let warning = outcome.stderr.lines().find(|line| line.starts_with(&start)).expect("it is told");
        assert!(warning.contains("run all nodes as one user"), "{warning}");
    }
    assert_eq!(outcome.stderr.trim().lines().count(), 2, "{outcome:?}");
    let outcome = run(denied(&program, "--users +n 2 +lrts cma"));
    assert_ne!(outcome.code, Some(0), "{outcome:?}");
    let message = outcome.complaint();
    assert!(message.contains("no path leads to node") && message.contains("+lrts shm"), "{message}");
}

#[test]
fn little_locked_memory_is_enough_for_a_user_too() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = for_everybody(folder.path(), env!("CARGO_BIN_EXE_denied"));
    for limit in [0, 64] {
        for options in ["", "+lrts cma", "+nolocal"] {
            let line = format!("ulimit -l {limit}; exec '{program}' --rounds 20 +n 2 {options}");
            let mut command = Command::new("sh");
            command.args(["-c", &line]).uid(NOBODY).gid(NOBODY);
            is_right(&run(command));
        }
    }
}

/// The kernel counts the descriptors that a user's processes have sent each other and not taken yet against one process's limit; root is excepted.
#[test]
fn many_nodes_of_an_ordinary_user_meet_with_few_descriptors() {
    if !is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let program = for_everybody(folder.path(), env!("CARGO_BIN_EXE_probe"));
    let mut command = Command::new("sh");
    let line = format!("ulimit -n 200; exec '{program}' lend +n 14");
    command.args(["-c", &line]).uid(NOBODY).gid(NOBODY);
    let outcome = run(command);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}
