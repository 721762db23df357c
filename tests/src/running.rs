//! A program under test while it runs: what it says as it comes, its end within a bound, nothing left behind.

use crate::dispositions;
use crate::family::{Family, wait_for_end};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The longest that a program may run if nothing else is said, on a busy machine and without optimisation: a hang is a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

/// The output of a program and its end.
#[derive(Debug)]
pub struct Outcome {
    /// `None`: a signal ended it.
    pub code: Option<i32>,
    /// Its standard output.
    pub stdout: String,
    /// Its standard error.
    pub stderr: String,
}

impl Outcome {
    /// Lines of standard output, sorted: nodes print in any order.
    pub fn sorted_lines(&self) -> Vec<&str> {
        let mut lines: Vec<&str> = self.stdout.lines().collect();
        lines.sort_unstable();
        lines
    }

    /// The only line of standard error.
    ///
    /// # Panics
    /// If there are more, or none.
    #[track_caller]
    pub fn complaint(&self) -> &str {
        let mut lines = self.stderr.trim().lines();
        match (lines.next(), lines.next()) {
            (Some(line), None) => line,
            _ => panic!("not one line on standard error: {self:?}"),
        }
    }
}

/// A program under test while it runs. Dropping it kills the program and all that it started.
#[derive(Debug)]
pub struct Running {
    name: String,
    child: Child,
    family: Family,
    deadline: Instant,
    lines: Receiver<String>,
    complaints: Receiver<String>,
    stdout: Receiver<String>,
    stderr: Receiver<String>,
    _scratch: TempDir,
}

impl Running {
    /// Starts a program in a process group of its own, with nothing to read, which signals reach as from a terminal. Its temporary files
    /// go to a folder of its own (`TMPDIR`): launchers that are started at once would race for the folders that they keep there.
    ///
    /// # Panics
    /// If it does not start.
    #[track_caller]
    pub fn start(command: &mut Command) -> Self {
        Self::start_within(command, PATIENCE)
    }

    /// The same, for one that may run this long.
    ///
    /// # Panics
    /// As [`Running::start`].
    #[track_caller]
    pub fn start_within(command: &mut Command, patience: Duration) -> Self {
        let family = Family::of(command);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let name = format!("{command:?}");
        let scratch = tempfile::tempdir().expect("a folder for temporary files");
        command.env("TMPDIR", scratch.path());
        dispositions::reset(command);
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let (lines, stdout) = listen(child.stdout.take().expect("it is piped"));
        let (complaints, stderr) = listen(child.stderr.take().expect("it is piped"));
        let deadline = Instant::now() + patience;
        Self { name, child, family, deadline, lines, complaints, stdout, stderr, _scratch: scratch }
    }

    /// The program's own process.
    pub fn pid(&self) -> Pid {
        Pid::from_child(&self.child)
    }

    /// All that it started, and itself.
    pub fn family(&self) -> &Family {
        &self.family
    }

    /// Sends the program a signal.
    ///
    /// # Panics
    /// If it has ended.
    pub fn signal(&self, signal: Signal) {
        kill_process(self.pid(), signal).expect("it runs");
    }

    /// The next line that it writes to standard output, as it comes; `None` when no more will.
    ///
    /// # Panics
    /// If it neither writes nor ends in time; it is killed then, with all that it started.
    #[track_caller]
    pub fn next_line(&self) -> Option<String> {
        match self.lines.recv_timeout(self.deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => Some(line),
            Err(RecvTimeoutError::Disconnected) => None,
            Err(RecvTimeoutError::Timeout) => self.give_up("neither ends nor says more"),
        }
    }

    /// The next line, where one must come.
    ///
    /// # Panics
    /// As [`Running::next_line`], and if none comes.
    #[track_caller]
    pub fn line(&self) -> String {
        self.next_line().unwrap_or_else(|| self.give_up("says no more"))
    }

    /// The next line that it writes to standard error, as it comes, where one must.
    ///
    /// # Panics
    /// As [`Running::line`].
    #[track_caller]
    pub fn error_line(&self) -> String {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.complaints.recv_timeout(left).unwrap_or_else(|_| self.give_up("does not complain"))
    }

    /// The result of `select` for the first line in which it finds anything.
    ///
    /// # Panics
    /// As [`Running::line`]; the message says `what` was waited for.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, select: impl Fn(&str) -> Option<T>) -> T {
        loop {
            match self.next_line() {
                Some(line) => {
                    if let Some(found) = select(&line) {
                        return found;
                    }
                }
                None => self.give_up(&format!("ends without {what}")),
            }
        }
    }

    /// Waits for the end of the program and of all that it started.
    ///
    /// # Panics
    /// If that takes too long; what is left is killed then.
    #[track_caller]
    pub fn end(self) -> Outcome {
        let left = self.deadline.saturating_duration_since(Instant::now());
        self.end_within(left)
    }

    /// Waits no longer than this, from now on.
    ///
    /// # Panics
    /// As [`Running::end`].
    #[track_caller]
    pub fn end_within(mut self, patience: Duration) -> Outcome {
        let deadline = self.deadline.min(Instant::now() + patience);
        if !wait_for_end(self.pid(), deadline) {
            self.give_up("has not ended in time");
        }
        let left = self.family.wait_for_end(deadline);
        if !left.is_empty() {
            self.give_up(&format!("has ended and left processes {left:?} behind"));
        }
        let code = self.child.wait().expect("it was started").code();
        let until_deadline = || deadline.saturating_duration_since(Instant::now());
        match (self.stdout.recv_timeout(until_deadline()), self.stderr.recv_timeout(until_deadline())) {
            (Ok(stdout), Ok(stderr)) => Outcome { code, stdout, stderr },
            _ => self.give_up("has ended, but somebody else holds its output"),
        }
    }

    #[track_caller]
    fn give_up(&self, what: &str) -> ! {
        self.family.kill();
        let said = |text: &Receiver<String>| text.recv_timeout(Duration::from_secs(1)).unwrap_or_default();
        let (stdout, stderr) = (said(&self.stdout), said(&self.stderr));
        panic!("{} {what}\nstandard output:\n{stdout}\nstandard error:\n{stderr}", self.name);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.family.kill();
        // Fails when it has ended: then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Reads to the end in a thread of its own: each line as it comes, and the whole when no more will.
fn listen(pipe: impl Read + Send + 'static) -> (Receiver<String>, Receiver<String>) {
    let ((line, lines), (whole, texts)) = (channel(), channel());
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut all = String::new();
        let mut bytes = Vec::new();
        while pipe.read_until(b'\n', &mut bytes).is_ok_and(|read| read > 0) {
            let text = String::from_utf8_lossy(&bytes);
            all += &text;
            // A test that does not listen reads it at the end, or not at all.
            let _ = line.send(text.trim_end_matches('\n').to_owned());
            bytes.clear();
        }
        drop(line);
        // Who has the whole counts descriptors, perhaps.
        drop(pipe);
        let _ = whole.send(all);
    });
    (lines, texts)
}
