//! Runs an example as a user would, within a bound.

use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

/// How long any of these runs may take, on a busy machine and without optimisation.
const PATIENCE: Duration = Duration::from_secs(120);

/// What an example said and how it ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// `None`: a signal ended it.
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// Runs `example` with these arguments, which must not contain blanks.
///
/// # Panics
/// If it is not built or does not end in time; it is killed then, with all that it started.
pub(crate) fn run(example: &str, arguments: &str) -> Outcome {
    let child = Command::new(path_of(example))
        .args(arguments.split_whitespace())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap_or_else(|error| panic!("{example} does not start: {error}"));
    let group = Pid::from_child(&child);
    let (done, ended) = mpsc::channel();
    std::thread::spawn(move || done.send(child.wait_with_output()));
    let Ok(output) = ended.recv_timeout(PATIENCE) else {
        // Whatever has ended by itself in the meantime needs no signal.
        let _ = kill_process_group(group, Signal::KILL);
        panic!("`{example} {arguments}` still runs after {PATIENCE:?}");
    };
    let output = output.expect("its output can be read");
    Outcome {
        code: output.status.code(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs an example that must succeed; returns its standard output.
#[track_caller]
pub(crate) fn pass(example: &str, arguments: &str) -> String {
    let outcome = run(example, arguments);
    assert_eq!(outcome.code, Some(0), "`{example} {arguments}`: {outcome:?}");
    outcome.stdout
}

/// Where Cargo puts examples: beside the directory of this test's own file.
fn path_of(example: &str) -> PathBuf {
    let own = std::env::current_exe().expect("this test has a file");
    let directory = own.parent().and_then(|dependencies| dependencies.parent()).expect("Cargo's layout");
    let path = directory.join("examples").join(example);
    let release = if directory.ends_with("release") { " --release" } else { "" };
    assert!(
        path.exists(),
        "{} is missing; build it with `cargo build --package chare-examples --examples{release}`",
        path.display()
    );
    path
}
