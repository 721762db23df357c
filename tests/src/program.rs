//! Programs under test: a test runs them as a user would, within a bound.

use crate::running::{Outcome, PATIENCE, Running};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A program of this workspace, built before.
#[derive(Clone, Debug)]
pub struct Program {
    path: PathBuf,
    patience: Duration,
}

impl Program {
    /// One of the examples: where Cargo puts them, beside the directory of the running test's own file; or in that directory, where tests and
    /// programs were gathered in one.
    ///
    /// # Panics
    /// If it is not built; the message says how to.
    pub fn example(name: &str) -> Self {
        if let Some(path) = gathered(name.as_ref()) {
            return Self { path, patience: PATIENCE };
        }
        let own = std::env::current_exe().expect("this test has a file");
        let directory = own.parent().and_then(|dependencies| dependencies.parent()).expect("Cargo's layout");
        let path = directory.join("examples").join(name);
        let release = if directory.ends_with("release") { " --release" } else { "" };
        assert!(
            path.exists(),
            "{} is missing; build it with `cargo build --workspace --examples{release}`",
            path.display()
        );
        Self { path, patience: PATIENCE }
    }

    /// A binary of the test's own package: `env!("CARGO_BIN_EXE_name")`, or the one that was gathered with the test in one directory, on
    /// whatever machine.
    pub fn binary(path: &str) -> Self {
        let path = PathBuf::from(path);
        let path = path.file_name().and_then(gathered).unwrap_or(path);
        Self { path, patience: PATIENCE }
    }

    /// Lets its runs take longer than those of tests do.
    pub fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The path of the program.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it with these arguments, which must not contain blanks.
    ///
    /// # Panics
    /// If it does not end in time, or leaves processes behind; they are killed then.
    pub fn run(&self, arguments: &str) -> Outcome {
        self.run_watched(arguments, |_| ())
    }

    /// Runs it; `watch` hears every line that it writes to standard output, at once.
    ///
    /// # Panics
    /// As [`Program::run`].
    pub fn run_watched(&self, arguments: &str, mut watch: impl FnMut(&str)) -> Outcome {
        let mut command = Command::new(&self.path);
        let running = Running::start_within(command.args(arguments.split_whitespace()), self.patience);
        while let Some(line) = running.next_line() {
            watch(&line);
        }
        running.end()
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

/// A program in the directory of the running test's own file. Cargo puts none there under its mere name.
fn gathered(name: &OsStr) -> Option<PathBuf> {
    let path = std::env::current_exe().ok()?.with_file_name(name);
    path.is_file().then_some(path)
}
