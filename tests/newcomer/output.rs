//! Output that nobody reads to its end, as in `hello | head -1`: the job ends without a word, with the code of a program that a closed
//! pipe ends.

use chare_tests::{Program, wait_for_end};
use rustix::process::Pid;
use std::io::{PipeWriter, Read, pipe};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A program that hangs on a closed pipe is a failure.
const WATCHDOG: Duration = Duration::from_secs(60);

/// The writing end of a pipe that nobody reads.
fn unread() -> PipeWriter {
    let (_reader, writer) = pipe().expect("a pipe");
    writer
}

/// The exit code of a program whose output nobody reads, and what it said on standard error.
fn run_unread(example: &str, arguments: &str) -> (Option<i32>, String) {
    let mut command = Command::new(Program::example(example).path());
    command.args(arguments.split_whitespace()).stdin(Stdio::null()).stdout(unread()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    drop(command);
    if !wait_for_end(Pid::from_child(&child), Instant::now() + WATCHDOG) {
        child.kill().expect("it runs");
        panic!("`{example} {arguments}` is still running after {WATCHDOG:?}");
    }
    let mut complaints = String::new();
    child.stderr.take().expect("it is piped").read_to_string(&mut complaints).expect("it is text");
    (child.wait().expect("it was started").code(), complaints)
}

#[test]
fn a_job_whose_output_nobody_reads_ends_without_a_word() {
    let paths = ["", "+p 3", "+n 2", "+n 3 +p 2", "+p 2 +stats"];
    for arguments in paths {
        assert_eq!(run_unread("hello", arguments), (Some(141), String::new()), "hello {arguments}");
    }
    assert_eq!(run_unread("pingpong", "--path memcpy --max 2KiB"), (Some(141), String::new()));
    // Its driver does not play on over the other paths.
    assert_eq!(run_unread("pingpong", "--max 2KiB"), (Some(141), String::new()));
    assert_eq!(run_unread("hello", "+help"), (Some(0), String::new()), "nobody misses help");
}
