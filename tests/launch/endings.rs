//! Ends of jobs: well, badly, and by force.

use crate::harness::{NODE, RUN, await_children, await_death, end, run};
use chare_tests::Running;
use rustix::process::{Pid, Signal};
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest that a user may have to wait for the end of a job that lost a node.
const END: Duration = Duration::from_secs(10);

#[test]
fn the_jobs_code_is_its_nodes() {
    for (codes, expected) in [(["0", "0"], 0), (["7", "7"], 7), (["0", "3"], 3)] {
        let ended = end(&mut run(2, &[], &[NODE, "finish", codes[0], codes[1]]));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(expected), ""), "{ended:?}");
    }
}

#[test]
fn a_node_that_leaves_without_a_word_is_named() {
    for (code, expected) in [("0", 1), ("5", 5)] {
        let ended = end(&mut run(3, &[], &[NODE, "desert", code]));
        assert_eq!(ended.code, Some(expected), "{ended:?}");
        let words = format!("exited with code {code} without finishing");
        assert!(ended.complaint().contains("chare: node 1 (pid "), "{ended:?}");
        assert!(ended.complaint().contains(&words), "{ended:?}");
    }
}

#[test]
fn a_node_that_fails_says_why() {
    let ended = end(&mut run(3, &[], &[NODE, "fail"]));
    assert_eq!(ended.code, Some(9));
    assert!(ended.complaint().contains("node 1 (pid "), "{ended:?}");
    assert!(ended.complaint().ends_with("failed: it cannot go on"), "{ended:?}");
}

#[test]
fn hearsay_ends_the_job_too() {
    let ended = end(&mut run(2, &[], &[NODE, "accuse"]));
    assert_eq!(ended.code, Some(1));
    assert!(ended.complaint().ends_with("lost node 1: it says nothing"), "{ended:?}");
}

#[test]
fn nodes_that_do_not_listen_are_killed() {
    let running = Running::start(&mut run(2, &[], &[NODE, "stubborn"]));
    let ended = running.end_within(END);
    assert_eq!(ended.code, Some(1));
    assert!(ended.complaint().contains("it had enough"), "{ended:?}");
}

#[test]
fn a_program_that_cannot_be_started_is_named() {
    let ended = end(&mut run(2, &[], &["/no/such/program"]));
    assert_eq!(ended.code, Some(127));
    assert!(ended.complaint().contains("`/no/such/program`: No such file"), "{ended:?}");
}

#[test]
fn a_node_killed_at_any_moment_ends_the_job_and_is_named() {
    // Spread over a start-up and what follows it; which moment is hit differs from run to run anyway.
    for round in 0..20_u64 {
        let role = if round % 2 == 0 { "exchange" } else { "wait" };
        let running = Running::start(&mut run(2, &[], &[NODE, role]));
        let nodes = await_children(running.pid(), 2);
        let victim = nodes[(round as usize / 2) % 2];
        let moment = Instant::now() + Duration::from_micros(round * round * 60);
        while Instant::now() < moment {
            std::thread::yield_now();
        }
        rustix::process::kill_process(victim, Signal::KILL).unwrap();
        let ended = running.end_within(END);
        assert_eq!(ended.code, Some(137), "round {round}: {ended:?}");
        let words = format!("(pid {victim}) was killed by signal 9 (SIGKILL)");
        assert!(ended.complaint().contains(&words), "round {round}: {ended:?}");
        nodes.into_iter().for_each(await_death);
    }
}

#[test]
fn a_killed_launcher_takes_its_nodes_along() {
    let mut here = run(3, &[], &[NODE, "wait"]);
    let mut itself = Command::new(NODE);
    itself.args(["wait", "+n", "3"]);
    for command in [&mut here, &mut itself] {
        let running = Running::start(command);
        let nodes: Vec<Pid> = (0..3).map(|_| waiting_node(&running.line())).collect();
        running.signal(Signal::KILL);
        nodes.into_iter().for_each(await_death);
        assert!(running.end().code.is_none());
    }
}

#[test]
fn what_a_killed_node_started_ends_with_it() {
    let script = "sleep 1000 & echo $$ waits as $!; wait";
    let running = Running::start(&mut run(2, &[], &["sh", "-c", script]));
    let lines = [running.line(), running.line()];
    let shell = lines[0].split(' ').next().and_then(|pid| Pid::from_raw(pid.parse().ok()?)).unwrap();
    rustix::process::kill_process(shell, Signal::KILL).unwrap();
    assert_eq!(running.end_within(END).code, Some(137));
    lines.iter().for_each(|line| await_death(waiting_node(line)));
}

#[test]
fn a_stopped_node_is_named_and_awaited() {
    let running = Running::start(&mut run(2, &[], &[NODE, "wait"]));
    let nodes: Vec<Pid> = (0..2).map(|_| waiting_node(&running.line())).collect();
    rustix::process::kill_process(nodes[0], Signal::STOP).unwrap();
    let told = running.error_line();
    assert!(told.contains(&format!("(pid {}) was stopped by signal 19 (SIGSTOP)", nodes[0])), "{told}");
    rustix::process::kill_process(nodes[1], Signal::KILL).unwrap();
    let ended = running.end_within(END);
    assert_eq!((ended.code, ended.stderr.trim().lines().count()), (Some(137), 2), "{ended:?}");
    nodes.into_iter().for_each(await_death);
}

#[test]
fn a_limit_of_file_sizes_is_named_with_its_cure() {
    let script = "ulimit -f 2; exec head -c 100000 /dev/zero >big";
    let place = tempfile::tempdir().unwrap();
    let mut command = run(2, &[], &["sh", "-c", script]);
    let ended = end(command.current_dir(&place));
    assert_eq!(ended.code, Some(153), "{ended:?}");
    let complaint = ended.complaint();
    assert!(complaint.contains("signal 25 (SIGXFSZ)") && complaint.contains("`ulimit -f`"), "{complaint}");
}

/// The process in a line such as `node 2 waits as 123`.
pub(crate) fn waiting_node(line: &str) -> Pid {
    let pid = line.rsplit("waits as ").next().and_then(|pid| pid.parse().ok());
    pid.and_then(Pid::from_raw).unwrap_or_else(|| panic!("no process in {line:?}"))
}

#[test]
fn a_job_leaves_no_file_and_no_process() {
    let place = std::env::temp_dir().join(format!("chare-launch-left-{}", std::process::id()));
    std::fs::create_dir(&place).unwrap();
    let shared = || {
        let names = std::fs::read_dir("/dev/shm").into_iter().flatten().flatten();
        names.filter(|file| file.file_name().to_string_lossy().contains("chare-launch")).count()
    };
    assert_eq!(shared(), 0);
    let mut command = Command::new(RUN);
    command.args(["-n", "3", NODE, "wait"]).current_dir(&place).env("TMPDIR", &place);
    let running = Running::start(&mut command);
    let nodes: Vec<Pid> = (0..3).map(|_| waiting_node(&running.line())).collect();
    rustix::process::kill_process(nodes[0], Signal::KILL).unwrap();
    assert_eq!(running.end_within(END).code, Some(137));
    for node in nodes {
        assert!(rustix::process::test_kill_process(node).is_err(), "{node} is still there");
    }
    assert_eq!(std::fs::read_dir(&place).unwrap().count(), 0);
    assert_eq!(shared(), 0);
    std::fs::remove_dir(&place).unwrap();
}
