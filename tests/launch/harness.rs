//! Harness of these tests: the launched program, and a look at the processes of a launcher.

use chare_tests::{Outcome, Running, wait_for_end};
use rustix::process::Pid;
use std::io::Read;
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// `chare-run`, built for this package: Cargo tells a test about the binaries of its own package only.
pub(crate) const RUN: &str = env!("CARGO_BIN_EXE_launch-run");

/// The program that is launched.
pub(crate) const NODE: &str = env!("CARGO_BIN_EXE_launch-node");

/// No job of these tests may take longer: what hangs is a failure.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The end of a process whose output is somebody else's business, and the little it said on standard error.
pub(crate) fn end_child(mut child: Child) -> (ExitStatus, String) {
    if !wait_for_end(Pid::from_child(&child), Instant::now() + WATCHDOG) {
        child.kill().unwrap();
        panic!("still running after {WATCHDOG:?}");
    }
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    (child.wait().unwrap(), error)
}

/// Runs a program to its end.
#[track_caller]
pub(crate) fn end(command: &mut Command) -> Outcome {
    Running::start(command).end()
}

/// `chare-run -n NODES OPTIONS -- PROGRAM`.
pub(crate) fn run(nodes: u32, options: &[&str], program: &[&str]) -> Command {
    let mut command = Command::new(RUN);
    command.args(["-n", &nodes.to_string()]).args(options).arg("--").args(program);
    command
}

/// The processes that a process has started and not reaped.
pub(crate) fn children(pid: Pid) -> Vec<Pid> {
    let path = format!("/proc/{pid}/task/{pid}/children");
    let list = std::fs::read_to_string(path).unwrap_or_default();
    list.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

/// Waits until a process has started so many.
pub(crate) fn await_children(pid: Pid, count: usize) -> Vec<Pid> {
    let begin = Instant::now();
    loop {
        let started = children(pid);
        if started.len() == count {
            return started;
        }
        assert!(begin.elapsed() < WATCHDOG, "only {} of {count} processes started", started.len());
        std::thread::yield_now();
    }
}

/// Waits until nothing of the process is left but, at most, an entry that nobody reaped yet.
#[track_caller]
pub(crate) fn await_death(pid: Pid) {
    assert!(wait_for_end(pid, Instant::now() + Duration::from_secs(10)), "process {pid} is still there");
}
