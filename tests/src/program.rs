//! Runs a program as a user would, within a bound.

use rustix::process::{Pid, Signal, kill_process_group};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long any of these runs may take, on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a program said and how it ended.
#[derive(Debug)]
pub struct Outcome {
    /// `None`: a signal ended it.
    pub code: Option<i32>,
    /// What it wrote to standard output.
    pub stdout: String,
    /// What it wrote to standard error.
    pub stderr: String,
}

/// A program of this workspace, built before.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    patience: Duration,
}

impl Program {
    /// One of the examples: where Cargo puts them, beside the directory of the running test's own file.
    ///
    /// # Panics
    /// If it is not built; the message says how to.
    pub fn example(name: &str) -> Self {
        let own = std::env::current_exe().expect("this test has a file");
        let directory = own.parent().and_then(|dependencies| dependencies.parent()).expect("Cargo's layout");
        let path = directory.join("examples").join(name);
        let release = if directory.ends_with("release") { " --release" } else { "" };
        assert!(
            path.exists(),
            "{} is missing; build it with `cargo build --package chare-examples --examples{release}`",
            path.display()
        );
        Self { path, patience: PATIENCE }
    }

    /// A binary of the test's own package: `env!("CARGO_BIN_EXE_name")`.
    pub fn binary(path: &str) -> Self {
        Self { path: path.into(), patience: PATIENCE }
    }

    /// Lets its runs take longer than those of tests do.
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it with these arguments, which must not contain blanks.
    ///
    /// # Panics
    /// If it does not end in time; it is killed then, with all that it started.
    pub fn run(&self, arguments: &str) -> Outcome {
        self.run_watched(arguments, |_| ())
    }

    /// Runs it; `watch` hears every line that it writes to standard output, at once.
    ///
    /// # Panics
    /// As [`Program::run`].
    pub fn run_watched(&self, arguments: &str, mut watch: impl FnMut(&str)) -> Outcome {
        let name = self.path.display();
        let mut child = Command::new(&self.path)
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let group = Pid::from_child(&child);
        let (line, lines) = mpsc::channel();
        let (output, mut error) = (child.stdout.take().expect("piped"), child.stderr.take().expect("piped"));
        std::thread::spawn(move || {
            // Nobody listens after the watchdog has bitten.
            BufReader::new(output).lines().map_while(Result::ok).all(|text| line.send(text).is_ok())
        });
        let complaints = std::thread::spawn(move || {
            let mut text = Vec::new();
            error.read_to_end(&mut text).map(|_| String::from_utf8_lossy(&text).into_owned())
        });
        let deadline = Instant::now() + self.patience;
        let mut stdout = String::new();
        loop {
            match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(text) => {
                    watch(&text);
                    stdout += &text;
                    stdout.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    // Whatever has ended by itself in the meantime needs no signal.
                    let _ = kill_process_group(group, Signal::KILL);
                    panic!("`{name} {arguments}` still runs after {:?}: {stdout}", self.patience);
                }
            }
        }
        let stderr = complaints.join().expect("no panic").expect("its output can be read");
        let code = child.wait().expect("it was started").code();
        Outcome { code, stdout, stderr }
    }

    /// Runs it; it must succeed. Returns its standard output.
    ///
    /// # Panics
    /// If it does not, with all that it said.
    #[track_caller]
    pub fn pass(&self, arguments: &str) -> String {
        let outcome = self.run(arguments);
        assert_eq!(outcome.code, Some(0), "`{} {arguments}`: {outcome:?}", self.path.display());
        outcome.stdout
    }
}
