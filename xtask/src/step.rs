//! Steps: each is a program that runs to its end while its output goes by, and has an outcome.

use crate::family;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A step that takes longer hangs, and is ended. The longest takes half of it on two cores, building everything.
const WATCHDOG: Duration = Duration::from_secs(25 * 60);

/// The outcome of a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Passed,
    Failed(String),
    Skipped(String),
}

/// A program to run.
pub(crate) struct Step {
    pub(crate) name: String,
    command: Command,
    patience: Duration,
}

/// A finished step.
pub(crate) struct Finished {
    pub(crate) name: String,
    pub(crate) outcome: Outcome,
    pub(crate) elapsed: Duration,
    /// Its standard output.
    pub(crate) output: Vec<String>,
}

/// The root of the workspace.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package lies in the workspace")
}

/// The directory of this workspace's builds.
pub(crate) fn target_directory() -> PathBuf {
    let chosen = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    root().join(chosen.unwrap_or_else(|| "target".into()))
}

/// `RUSTFLAGS` of the environment and one more.
pub(crate) fn flags_with(flag: &str) -> OsString {
    let mut flags = std::env::var_os("RUSTFLAGS").unwrap_or_default();
    flags.push(" ");
    flags.push(flag);
    flags
}

impl Step {
    /// `cargo` with arguments that are separated by blanks, in the root of the workspace.
    pub(crate) fn cargo(name: &str, arguments: &str) -> Self {
        let mut step = Self::program(name, std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        step.command.args(arguments.split_whitespace());
        step
    }

    /// A program without arguments, in the root of the workspace.
    pub(crate) fn program(name: &str, program: impl AsRef<OsStr>) -> Self {
        let mut command = Command::new(program);
        command.current_dir(root());
        Self { name: name.to_owned(), command, patience: WATCHDOG }
    }

    /// Sets a variable of the step's environment.
    pub(crate) fn environment(mut self, variable: &str, value: impl Into<OsString>) -> Self {
        self.command.env(variable, value.into());
        self
    }

    /// Adds an argument.
    pub(crate) fn argument(mut self, argument: impl Into<OsString>) -> Self {
        self.command.arg(argument.into());
        self
    }

    /// Lets it take longer than steps usually do.
    pub(crate) fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Finished {
        println!("\n=== {} ===", self.name);
        let began = Instant::now();
        let mut output = Vec::new();
        let outcome = stream(&mut self.command, self.patience, &mut output).unwrap_or_else(|error| {
            Outcome::Failed(format!("{}: {error}", self.command.get_program().display()))
        });
        Finished { name: self.name, outcome, elapsed: began.elapsed(), output }
    }

    /// Does not run it, and says why.
    pub(crate) fn skip(self, why: String) -> Finished {
        Finished {
            name: self.name,
            outcome: Outcome::Skipped(why),
            elapsed: Duration::ZERO,
            output: Vec::new(),
        }
    }
}

/// Shows a program's standard output as it comes, and keeps it.
fn stream(command: &mut Command, patience: Duration, output: &mut Vec<String>) -> io::Result<Outcome> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let reader = BufReader::new(child.stdout.take().expect("it is piped"));
    let (heard, lines) = channel();
    thread::spawn(move || reader.split(b'\n').map_while(Result::ok).try_for_each(|line| heard.send(line)));
    let deadline = Instant::now() + patience;
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                // Nobody may be reading any more; the step and its result still count.
                let _ = writeln!(io::stdout(), "{line}");
                output.push(line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                family::end(child.id());
                child.wait()?;
                return Ok(Outcome::Failed(format!("no end after {} s", patience.as_secs())));
            }
        }
    }
    let status = child.wait()?;
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(status.to_string()) })
}
