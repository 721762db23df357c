//! Job start: jobs that start, and jobs that fail before.

use crate::harness::{NODE, RUN, end, run};
use chare_tests::Running;
use rustix::process::Signal;
use std::process::Command;

#[test]
fn a_bare_program_is_one_node() {
    assert_eq!(end(Command::new(NODE).arg("gather")).stdout, "alone, node 0 of 1\n");
}

#[test]
fn nodes_find_each_other_under_chare_run() {
    let ended = end(&mut run(4, &[], &[NODE, "gather"]));
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{ended:?}");
    let lines = ended.sorted_lines();
    for (node, line) in lines.iter().enumerate() {
        assert!(line.starts_with(&format!("node {node} of 4, 3 neighbours, key ")), "{lines:?}");
        assert!(line.ends_with("address None"), "{lines:?}");
    }
    let key = |line: &str| line.split("key ").nth(1).map(str::to_owned);
    assert!(lines.iter().all(|line| key(line) == key(lines[0])), "{lines:?}");
}

#[test]
fn a_program_starts_its_own_nodes() {
    for options in [["+n", "3", "+p", "2"], ["+p2", "+n3", "+stats", "+nolocal"]] {
        let ended = end(Command::new(NODE).arg("gather").args(options));
        assert_eq!((ended.code, ended.sorted_lines().len()), (Some(0), 3), "{ended:?}");
    }
    let ended = end(Command::new(NODE).arg("gather").env("CHARE_N", "2"));
    assert_eq!((ended.code, ended.sorted_lines().len()), (Some(0), 2), "{ended:?}");
}

#[test]
fn neighbours_are_connected_to_each_other() {
    // More pairs than may be under way at once.
    let ended = end(&mut run(30, &[], &[NODE, "neighbours"]));
    assert_eq!((ended.code, ended.sorted_lines().len()), (Some(0), 30), "{ended:?}");
    assert!(ended.sorted_lines().iter().all(|line| line.ends_with("heard 29 neighbours")));
}

#[test]
fn too_few_descriptors_are_an_error_with_its_cure() {
    let script = format!("ulimit -n 40; exec {RUN} -n 30 -- {NODE} gather");
    let ended = end(Command::new("sh").args(["-c", &script]));
    assert_ne!(ended.code, Some(0));
    assert!(ended.complaint().ends_with("raise `ulimit -n`"), "{ended:?}");
}

#[test]
fn ordinary_programs_can_be_launched_too() {
    let ended = end(run(2, &["-p", "3"], &["sh", "-c", "echo $CHARE_P"]).env_remove("CHARE_P"));
    // Nobody should take two singles for a job of two.
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), "3\n3\n"));
    assert!(ended.complaint().contains("none of the 2 processes joined the job"), "{ended:?}");
}

#[test]
fn a_program_that_does_not_join_in_time_is_told_of_while_it_runs() {
    let running =
        Running::start(&mut run(2, &["--timeout", "1"], &["sh", "-c", "echo here; exec sleep 1000"]));
    assert_eq!((running.line(), running.line()), ("here".into(), "here".into()));
    let told = running.error_line();
    assert!(told.contains("none of the 2 processes has joined the job after 1 s"), "{told}");
    assert!(told.contains("chare::run"), "{told}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().code, Some(143));
}

#[test]
fn children_of_a_node_inherit_nothing() {
    let ended = end(&mut run(1, &[], &[NODE, "inherit"]));
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(0), "launch=\n0\n"), "{ended:?}");
}

#[test]
fn nodes_inherit_nothing_that_the_launchers_caller_left_open() {
    let place = tempfile::tempdir().unwrap();
    let script = format!("exec 9>lock; exec {RUN} -n 1 -- ls -l /proc/self/fd");
    let ended = end(Command::new("sh").args(["-c", &script]).current_dir(&place));
    assert!(ended.code == Some(1) && ended.stdout.contains("0 -> "), "{ended:?}");
    assert!(!ended.stdout.contains("/lock"), "{ended:?}");
}

#[test]
fn a_node_that_never_joins_is_named() {
    let flag = std::env::temp_dir().join(format!("chare-launch-absent-{}", std::process::id()));
    let program = [NODE, "absent", flag.to_str().unwrap()];
    let ended = end(&mut run(3, &["--timeout", "1"], &program));
    std::fs::remove_file(&flag).unwrap();
    assert_eq!(ended.code, Some(1));
    let complaint = ended.complaint();
    assert!(complaint.contains("has not arrived after 1 s") && complaint.contains("(pid "), "{complaint}");
}

#[test]
fn a_node_that_never_publishes_is_named() {
    let ended = end(run(3, &[], &[NODE, "late"]).env("CHARE_STARTUP_TIMEOUT", "1"));
    assert_eq!(ended.code, Some(1));
    let complaint = ended.complaint();
    assert!(complaint.starts_with("chare: node 1 (pid ") && complaint.contains("after 1 s"), "{complaint}");
}

#[test]
fn bad_options_stop_the_start_with_one_line() {
    let cases: [(&[&str], &str); 6] = [
        (&["+pemapp", "3"], "did you mean `+pemap`?"),
        (&["+n", "0"], "'+n <N>'"),
        (&["+p", "100000"], "'+p <N>'"),
        (&["+n", "100000"], "'+n <N>'"),
        (&["+pemap", "3-1"], "empty range"),
        (&["+p"], "'+p <N>'"),
    ];
    for (options, words) in cases {
        let ended = end(Command::new(NODE).arg("gather").args(options));
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(ended.complaint().contains(words), "{ended:?}");
    }
    let ended = end(Command::new(NODE).args(["gather", "+n", "2"]).env("CHARE_STARTUP_TIMEOUT", "soon"));
    assert_eq!(ended.code, Some(2));
    assert!(ended.complaint().contains("takes 1 to"), "{ended:?}");
    let ended = end(Command::new(NODE).arg("gather").env("CHARE_LAUNCH", "nonsense"));
    assert_eq!(ended.code, Some(1));
}

#[test]
fn the_environment_of_a_launched_program_launches_nothing_twice() {
    // As a child of a node would find it: the variable is there, its socket is not.
    let ended = end(Command::new(NODE).arg("gather").env("CHARE_LAUNCH", "77:123"));
    assert_eq!(ended.stdout, "alone, node 0 of 1\n");
}

#[test]
fn chare_run_explains_itself() {
    let help = end(Command::new(RUN).arg("--help"));
    assert_eq!(help.code, Some(0));
    for option in ["--nodes", "--pes", "--hosts", "--hostfile", "--remote-shell", "--prefix", "--timeout"] {
        assert!(help.stdout.contains(option), "{option}");
    }
    assert!(!help.stdout.contains("--agent"));
    let wrong: [&[&str]; 4] =
        [&["-n", "0", "true"], &[], &["--nods", "2", "true"], &["--hosts", "-oX", "true"]];
    for arguments in wrong {
        let ended = end(Command::new(RUN).args(arguments));
        assert!(ended.code != Some(0) && !ended.stderr.is_empty(), "{arguments:?}: {ended:?}");
    }
    assert!(end(Command::new(NODE).arg("+help")).stdout.contains("+pemap <LIST>"));
}
