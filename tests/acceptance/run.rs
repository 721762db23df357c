//! Runs the probe and watches it: lines as they come, the end within a bound, nothing left behind.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long any job of these tests may take, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// What a program said and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The probe with these arguments, in a process group of its own.
pub(crate) fn probe(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_probe"));
    command.args(arguments.split_whitespace()).process_group(0).stdin(Stdio::null());
    command
}

/// A running program whose output is read as it comes.
pub(crate) struct Running {
    child: Child,
    lines: Receiver<String>,
    stdout: String,
    stderr: std::thread::JoinHandle<String>,
}

impl Running {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the probe is built");
        let (stdout, mut stderr) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let stderr = std::thread::spawn(move || {
            let mut text = Vec::new();
            let _ = stderr.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        });
        Self { child, lines, stdout: String::new(), stderr }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line that `select` accepts.
    pub(crate) fn wait_for<T>(&mut self, what: &str, select: impl Fn(&str) -> Option<T>) -> T {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let found = select(&line);
                    self.stdout += &line;
                    self.stdout.push('\n');
                    if let Some(found) = found {
                        return found;
                    }
                }
                Err(error) => {
                    self.kill();
                    let timed_out = error == RecvTimeoutError::Timeout;
                    panic!("no {what} (timed out: {timed_out}); standard output:\n{}", self.stdout);
                }
            }
        }
    }

    /// Kills the whole process group.
    fn kill(&self) {
        if let Some(group) = rustix::process::Pid::from_raw(self.pid() as i32) {
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
    }

    /// Waits for the end of the program and of everything it started.
    pub(crate) fn finish_within(mut self, patience: Duration) -> Outcome {
        let deadline = Instant::now() + patience;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("it is our child") {
                break status;
            }
            if Instant::now() > deadline {
                self.kill();
                panic!("still running after {patience:?}; standard output:\n{}", self.stdout);
            }
            // The end of the output comes first in nearly every case; otherwise look again soon.
            if let Ok(line) = self.lines.recv_timeout(Duration::from_millis(10)) {
                self.stdout += &line;
                self.stdout.push('\n');
            }
        };
        let left = wait_for_empty_group(self.pid(), deadline);
        assert!(left.is_empty(), "processes left behind: {left:?}");
        for line in self.lines.iter() {
            self.stdout += &line;
            self.stdout.push('\n');
        }
        let stderr = self.stderr.join().expect("reading does not panic");
        Outcome { status, stdout: self.stdout, stderr }
    }
}

/// Runs a command to its end.
pub(crate) fn run(command: Command) -> Outcome {
    Running::start(command).finish_within(PATIENCE)
}

/// Whatever of a process group is still alive at the deadline.
fn wait_for_empty_group(group: u32, deadline: Instant) -> Vec<u32> {
    loop {
        let left = members(group);
        if left.is_empty() || Instant::now() > deadline {
            return left;
        }
        std::thread::yield_now();
    }
}

/// The living processes of a group.
pub(crate) fn members(group: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted");
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| {
            let fields = stat(*pid);
            fields.first().is_some_and(|state| state != "Z") && fields.get(2) == Some(&group.to_string())
        })
        .collect()
}

/// The fields of a process's `stat` after its name: state, parent, group, ...
pub(crate) fn stat(pid: u32) -> Vec<String> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let after_name = text.rsplit_once(") ").map(|(_, rest)| rest).unwrap_or_default();
    after_name.split_whitespace().map(str::to_owned).collect()
}
