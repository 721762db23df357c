//! Steps: each is a program that runs to its end while its output goes by, and has an outcome.

use crate::family;
use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A step that says nothing for longer hangs, and is ended; how long it takes in all depends on what else the machine does. The longest
/// silence, that of the user-interface tests, is a tenth of it on two cores.
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
    /// Whether what it says is shown when it is over, because other steps say something meanwhile.
    is_aside: bool,
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

/// Runs `cargo` with arguments that are separated by blanks, and returns what it says of each artifact that it has built.
///
/// # Errors
/// Why it has not built them, in words.
pub(crate) fn built(arguments: &str) -> Result<Vec<Value>, String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(root()).args(arguments.split_whitespace());
    cargo.args(["--message-format", "json-render-diagnostics"]).stderr(Stdio::inherit());
    let output = cargo.output().map_err(|error| format!("cargo: {error}"))?;
    if !output.status.success() {
        return Err(format!("`cargo {arguments}`: {}", output.status));
    }
    let said = String::from_utf8_lossy(&output.stdout);
    Ok(said.lines().filter_map(|line| serde_json::from_str(line).ok()).collect())
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
        Self { name: name.to_owned(), command, patience: WATCHDOG, is_aside: false }
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

    /// Lets it be silent for longer than steps usually are.
    pub(crate) fn within(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Shows what it says when it is over, in one piece.
    pub(crate) fn aside(mut self) -> Self {
        self.is_aside = true;
        self
    }

    /// Runs it to its end.
    pub(crate) fn run(mut self) -> Finished {
        let began = Instant::now();
        let (mut output, mut aside) = (Vec::new(), self.is_aside.then(Vec::new));
        let title = format!("\n=== {} ===", self.name);
        match &mut aside {
            Some(said) => said.push(title),
            None => println!("{title}"),
        }
        let outcome = stream(&mut self.command, self.patience, (&mut output, aside.as_mut()));
        let outcome = outcome.unwrap_or_else(|error| {
            Outcome::Failed(format!("{}: {error}", self.command.get_program().display()))
        });
        if let Some(said) = aside {
            println!("{}", said.join("\n"));
        }
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

/// A line that a program wrote.
enum Line {
    Output(Vec<u8>),
    Complaint(Vec<u8>),
}

/// Shows what a program writes as it comes, or puts it `aside`, and keeps its standard output; each line is progress. At a terminal, progress
/// bars are shown as they are, and whoever watches them ends what hangs.
fn stream(
    command: &mut Command,
    patience: Duration,
    (output, mut aside): (&mut Vec<String>, Option<&mut Vec<String>>),
) -> io::Result<Outcome> {
    let is_watched = aside.is_none() && io::stderr().is_terminal();
    let patience = if is_watched { Duration::MAX } else { patience };
    let complaints = if is_watched { Stdio::inherit() } else { Stdio::piped() };
    let mut child = command.stdout(Stdio::piped()).stderr(complaints).spawn()?;
    let (heard, lines) = channel();
    if let Some(complaints) = child.stderr.take() {
        listen(complaints, Line::Complaint, heard.clone());
    }
    listen(child.stdout.take().expect("it is piped"), Line::Output, heard);
    loop {
        // Nobody may be reading any more; the step and its result still count.
        match lines.recv_timeout(patience) {
            Ok(Line::Output(line)) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                match &mut aside {
                    Some(said) => said.push(line.clone()),
                    None => _ = writeln!(io::stdout(), "{line}"),
                }
                output.push(line);
            }
            Ok(Line::Complaint(line)) => {
                let line = String::from_utf8_lossy(&line).into_owned();
                match &mut aside {
                    Some(said) => said.push(line),
                    None => _ = writeln!(io::stderr(), "{line}"),
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                family::end(child.id());
                child.wait()?;
                return Ok(Outcome::Failed(format!("no word for {} s", patience.as_secs())));
            }
        }
    }
    let status = child.wait()?;
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(status.to_string()) })
}

fn listen(stream: impl Read + Send + 'static, line: fn(Vec<u8>) -> Line, heard: Sender<Line>) {
    let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
    thread::spawn(move || lines.map(line).try_for_each(|line| heard.send(line)));
}

#[cfg(test)]
mod tests {
    use super::{Outcome, Step};
    use std::time::Duration;

    fn script(script: &str, patience: Duration) -> Outcome {
        Step::program("script", "sh").argument("-c").argument(script).within(patience).run().outcome
    }

    #[test]
    fn a_step_that_says_something_may_take_its_time() {
        let script = script("for i in 1 2 3 4 5 6; do sleep 0.5; echo $i >&2; done", Duration::from_secs(2));
        assert_eq!(script, Outcome::Passed);
    }

    #[test]
    fn a_step_that_says_nothing_is_ended() {
        let outcome = script("echo begun; sleep 1000", Duration::from_millis(300));
        assert!(matches!(outcome, Outcome::Failed(_)), "{outcome:?}");
    }
}
