//! Starting programs under test, with a watchdog, and looking at what they leave.

use rustix::process::{Pid, Signal};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// `chare-run`, built for this package: Cargo tells a test about the binaries of its own package only.
pub(crate) const RUN: &str = env!("CARGO_BIN_EXE_launch-run");

/// The program that is launched.
pub(crate) const NODE: &str = env!("CARGO_BIN_EXE_launch-node");

/// No job of these tests may take longer: what hangs is a failure.
const WATCHDOG: Duration = Duration::from_secs(60);

/// What an ended program said.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) output: String,
    pub(crate) error: String,
}

impl Ended {
    pub(crate) fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("no exit code: {self:?}"))
    }

    /// Lines of standard output, sorted: nodes print in any order.
    pub(crate) fn lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.output.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// The launcher's only line.
    pub(crate) fn complaint(&self) -> &str {
        let lines: Vec<&str> = self.error.lines().collect();
        assert_eq!(lines.len(), 1, "{self:?}");
        lines[0]
    }
}

/// A running program under test.
pub(crate) struct Running {
    pub(crate) child: Child,
    pub(crate) lines: mpsc::Receiver<String>,
    output: JoinHandle<String>,
    error: JoinHandle<String>,
}

impl Running {
    /// Starts the program with its outputs piped.
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (line, lines) = mpsc::channel();
        let (output, mut error) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let output = std::thread::spawn(move || {
            let mut all = String::new();
            for read in BufReader::new(output).lines() {
                let read = read.unwrap();
                all += &format!("{read}\n");
                // A test that does not listen reads it at the end.
                let _ = line.send(read);
            }
            all
        });
        let error = std::thread::spawn(move || {
            let mut all = String::new();
            error.read_to_string(&mut all).unwrap();
            all
        });
        Self { child, lines, output, error }
    }

    pub(crate) fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// The next line of output.
    pub(crate) fn line(&self) -> String {
        self.lines.recv_timeout(WATCHDOG).expect("a line before the watchdog")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        rustix::process::kill_process(self.pid(), signal).unwrap();
    }

    /// Waits for the end, and panics when it takes longer than `patience`.
    pub(crate) fn end_within(mut self, patience: Duration) -> Ended {
        let status = wait_within(&mut self.child, patience);
        Ended { status, output: self.output.join().unwrap(), error: self.error.join().unwrap() }
    }

    pub(crate) fn end(self) -> Ended {
        self.end_within(WATCHDOG)
    }
}

/// Waits for a process's end, and panics when it takes longer than `patience`.
fn wait_within(child: &mut Child, patience: Duration) -> ExitStatus {
    let begin = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if begin.elapsed() > patience {
            child.kill().unwrap();
            panic!("still running after {patience:?}");
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The end of a process whose output is somebody else's business, and the little it said on standard error.
pub(crate) fn end_child(mut child: Child) -> (ExitStatus, String) {
    let status = wait_within(&mut child, WATCHDOG);
    let mut error = String::new();
    child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
    (status, error)
}

/// Runs a program to its end.
pub(crate) fn end(command: &mut Command) -> Ended {
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
pub(crate) fn await_death(pid: Pid) {
    let begin = Instant::now();
    let is_alive = || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The state follows the name, which is in parentheses.
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    };
    while is_alive() {
        assert!(begin.elapsed() < Duration::from_secs(10), "process {pid} is still there");
        std::thread::sleep(Duration::from_millis(2));
    }
}
