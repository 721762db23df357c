//! Runs a program as a user would, within a bound.

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

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
        Self { path }
    }

    /// A binary of the test's own package: `env!("CARGO_BIN_EXE_name")`.
    pub fn binary(path: &str) -> Self {
        Self { path: path.into() }
    }

    /// Runs it with these arguments, which must not contain blanks.
    ///
    /// # Panics
    /// If it does not end in time; it is killed then, with all that it started.
    pub fn run(&self, arguments: &str) -> Outcome {
        let name = self.path.display();
        let child = Command::new(&self.path)
            .args(arguments.split_whitespace())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .unwrap_or_else(|error| panic!("{name} does not start: {error}"));
        let group = Pid::from_child(&child);
        let (done, ended) = mpsc::channel();
        std::thread::spawn(move || done.send(child.wait_with_output()));
        let Ok(output) = ended.recv_timeout(PATIENCE) else {
            // Whatever has ended by itself in the meantime needs no signal.
            let _ = kill_process_group(group, Signal::KILL);
            panic!("`{name} {arguments}` still runs after {PATIENCE:?}");
        };
        let output = output.expect("its output can be read");
        Outcome {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
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
