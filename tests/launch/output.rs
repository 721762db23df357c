//! Output forwarding: what users see of their nodes' output.

use crate::harness::{NODE, RUN, await_children, end, end_child, run};
use rustix::process::{Pid, Signal};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

#[test]
fn lines_of_many_writers_stay_whole() {
    const LINES: usize = 2_000;
    let ended = end(&mut run(3, &["--prefix"], &[NODE, "lines", &LINES.to_string()]));
    assert_eq!(ended.code, Some(0));
    for text in [&ended.stdout, &ended.stderr] {
        let mut next: HashMap<String, usize> = HashMap::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let [prefix, node, number, rest] = words[..] else { panic!("torn: {line:?}") };
            assert_eq!(prefix, format!("[{}]", node.trim_start_matches('<')), "torn: {line:?}");
            let expected = next.entry(node.to_owned()).or_default();
            assert_eq!(number.parse(), Ok(*expected), "out of order: {line:?}");
            assert_eq!(rest, format!("{}>", "x".repeat(*expected % 200)), "torn: {line:?}");
            *expected += 1;
        }
        assert_eq!(next.len(), 3);
        assert!(next.values().all(|&lines| lines == LINES), "{next:?}");
    }
}

#[test]
fn a_last_line_gets_its_end() {
    assert_eq!(end(&mut run(2, &[], &["printf", "x"])).stdout, "x\nx\n");
}

#[test]
fn a_reader_that_leaves_ends_the_job_without_a_word() {
    let mut launcher = run(2, &[], &["yes"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut output = BufReader::new(launcher.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "y\n");
    drop(output);
    let (status, error) = end_child(launcher);
    assert_eq!(status.code(), Some(141));
    assert_eq!(error, "");
}

#[test]
fn a_full_disk_ends_the_job_with_one_line() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    // Programs that end by themselves may end before the output is known to be lost, and then there is more to say.
    let program = ["sh", "-c", "echo x; exec sleep 100"];
    let ended = run(2, &[], &program).stdout(full).stderr(Stdio::piped()).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let error = String::from_utf8(ended.stderr).unwrap();
    assert!(
        error.starts_with("chare: standard output cannot be written: No space") && error.lines().count() == 1,
        "{error}"
    );
}

#[test]
fn a_reader_that_stops_reading_does_not_stop_the_launcher() {
    // Nobody reads the output, far more than fits in any pipe: the death must be seen nevertheless.
    let mut launcher = run(2, &[], &["sh", "-c", "yes & exec yes"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let output = launcher.stdout.take().unwrap();
    let nodes = await_children(Pid::from_child(&launcher), 2);
    rustix::process::kill_process(nodes[1], Signal::KILL).unwrap();
    let (status, error) = end_child(launcher);
    drop(output);
    assert_eq!(status.code(), Some(137));
    assert!(error.contains(&format!("node 1 (pid {}) was killed by signal 9", nodes[1])), "{error}");
}

#[test]
fn nodes_may_close_their_own_output_and_launchers_may_have_none() {
    assert_eq!(end(&mut run(2, &[], &[NODE, "deaf"])).code, Some(0));
    let script = format!("exec {RUN} -n 2 {NODE} gather >&- 2>&-");
    assert_eq!(end(Command::new("sh").args(["-c", &script])).code, Some(0));
}

#[test]
fn the_first_node_reads_what_the_launcher_would() {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("echo hello | {RUN} -n 2 --prefix cat")]);
    assert_eq!(end(&mut command).stdout, "[0] hello\n");
}
