//! Runs: each starts its job, does what the plan says to a stopped node, and judges the end.

use super::fault::{Fault, Mark};
use super::plan::{AfterStop, Path, Plan};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// The longest that a user may have to wait for the end of a job after its fault.
pub const END_PATIENCE: Duration = Duration::from_secs(10);

/// How long a job may take whose fault has not struck, on a busy machine.
const RUN_PATIENCE: Duration = Duration::from_secs(60);

/// Between two looks at a job.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// How a run ended, as it had to.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Ending {
    /// The result was right.
    Right,
    /// One line named a victim and what happened to it.
    Error,
    /// The launcher, or the only process, was the victim: nothing was left that could speak.
    Silence,
}

/// A run that ended as it had to.
#[derive(Clone, Copy, Debug)]
pub struct Passed {
    /// How.
    pub ending: Ending,
    /// From the fault to the end of the last process; `None` if the fault did not strike.
    pub took: Option<Duration>,
}

/// Runs the job of `plan` and judges how it ends.
///
/// # Errors
/// The rule that the end broke, in words.
pub fn run(program: &std::path::Path, plan: &Plan) -> Result<Passed, String> {
    let system = |error: std::io::Error| error.to_string();
    let (logs, place) = (tempfile::tempdir().map_err(system)?, tempfile::tempdir().map_err(system)?);
    let path = |name: &str| logs.path().join(name);
    let mark = path("mark");
    let mut command = match plan.launcher()? {
        None => Command::new(program),
        Some(launcher) => {
            let mut command = launcher.command(plan.nodes);
            command.arg(program);
            command
        }
    };
    let mut job = command
        .args(plan.arguments())
        .arg("--mark")
        .arg(&mark)
        .current_dir(&place)
        .env("TMPDIR", place.path())
        .stdin(Stdio::null())
        .stdout(File::create(path("output")).map_err(system)?)
        .stderr(File::create(path("error")).map_err(system)?)
        .spawn()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    let watched = watch(&mut job, &mark, plan);
    let left = match watched {
        Ok(_) => wait_until_gone(&mark),
        // Nothing that hangs may disturb the next run.
        Err(_) => end_all(&mut job, &mark),
    };
    let read = |name: &str| fs::read_to_string(path(name)).unwrap_or_default();
    let (output, error) = (read("output"), read("error"));
    let said = |what: String| format!("{what}\noutput: {}\nerror: {}", output.trim_end(), error.trim_end());
    let status = watched.map_err(said)?;
    if !left.is_empty() {
        return Err(said(format!("processes {left:?} are left behind")));
    }
    let is_ours = |file: &fs::DirEntry| !file.file_name().to_string_lossy().starts_with("ompi.");
    if let Some(file) = fs::read_dir(&place).map_err(system)?.flatten().find(is_ours) {
        return Err(said(format!("the file {} is left behind", file.path().display())));
    }
    let struck = Mark::read(&mark);
    let ending = judge(plan, struck.is_some(), status, &output, &error).map_err(said)?;
    Ok(Passed { ending, took: struck.map(|mark| mark.age()) })
}

/// Waits for the end of the job; does to a stopped node what the plan says.
fn watch(job: &mut Child, mark: &std::path::Path, plan: &Plan) -> Result<ExitStatus, String> {
    let began = Instant::now();
    let mut pause = match plan.after_stop {
        AfterStop::Continue(pause) | AfterStop::Kill(pause) if plan.fault == Fault::Stop => Some(pause),
        _ => None,
    };
    let mut until = END_PATIENCE;
    loop {
        if let Some(status) = job.try_wait().map_err(|error| error.to_string())? {
            return Ok(status);
        }
        match Mark::read(mark) {
            Some(mark) => {
                if let Some(due) = pause.take_if(|pause| mark.age() >= *pause) {
                    until += due;
                    let signal = match plan.after_stop {
                        AfterStop::Continue(_) => Signal::CONT,
                        AfterStop::Kill(_) => Signal::KILL,
                    };
                    send(mark.process, signal);
                }
                if mark.age() > until {
                    return Err(format!("no end {:.1} s after the fault", mark.age().as_secs_f64()));
                }
            }
            None if began.elapsed() > RUN_PATIENCE => return Err("neither fault nor end".to_owned()),
            None => {}
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn send(process: u32, signal: Signal) {
    if let Some(pid) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        // Whether it was there shows in how the job ends.
        let _ = kill_process(pid, signal);
    }
}

/// The processes of a run: the path of its mark is among their arguments.
fn members(mark: &std::path::Path) -> Vec<u32> {
    let mark = mark.as_os_str().as_encoded_bytes();
    let is_member = |pid: &u32| {
        let arguments = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        arguments.split(|byte| *byte == 0).any(|argument| argument == mark)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_member).collect()
}

/// Waits until no process of a run is left; returns those that stay.
fn wait_until_gone(mark: &std::path::Path) -> Vec<u32> {
    let deadline = Instant::now() + END_PATIENCE;
    loop {
        let left = members(mark);
        if left.is_empty() {
            return left;
        }
        if Instant::now() > deadline {
            left.iter().for_each(|process| send(*process, Signal::KILL));
            return left;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

fn end_all(job: &mut Child, mark: &std::path::Path) -> Vec<u32> {
    let left = members(mark);
    left.iter().for_each(|process| send(*process, Signal::KILL));
    let _ = job.wait();
    left
}

/// Compares the end of a job with what its plan asks for.
fn judge(plan: &Plan, struck: bool, status: ExitStatus, output: &str, error: &str) -> Result<Ending, String> {
    let killed = status.signal() == Some(Signal::KILL.as_raw());
    let stop_ends = plan.fault == Fault::Stop && !matches!(plan.after_stop, AfterStop::Continue(_));
    let is_fatal = struck && (stop_ends || !matches!(plan.fault, Fault::None | Fault::Stop));
    if !is_fatal {
        let is_right = status.success() && output.lines().any(|line| line == "right") && error.is_empty();
        return is_right.then_some(Ending::Right).ok_or(format!("the result had to be right; {status}"));
    }
    if plan.nodes == 1 || plan.fault == Fault::Launcher {
        return killed.then_some(Ending::Silence).ok_or(format!("the kill had to be seen; {status}"));
    }
    if plan.path == Path::Mpi {
        return judge_mpi(plan, status, error);
    }
    let what = "was killed by signal 9 (SIGKILL)";
    let names = |node: &u32| error.starts_with(&format!("chare: node {node} (pid ")) && error.contains(what);
    let is_named = error.trim_end().lines().count() == 1 && plan.victims.iter().any(names);
    let is_error = !status.success() && status.code().is_some();
    (is_error && is_named).then_some(Ending::Error).ok_or(format!("one line had to say it {what}; {status}"))
}

/// MPI's launchers end the other nodes as soon as one is killed, and have their own words for it. Some node says ours, but that MPICH's
/// throws away what the nodes say.
fn judge_mpi(plan: &Plan, status: ExitStatus, error: &str) -> Result<Ending, String> {
    let lost = |node: &u32| error.contains(&format!("node {node} was lost"));
    let is_said = plan.victims.iter().any(lost) || error.contains("another process of the job has gone");
    let keeps_words = plan.seed.is_multiple_of(2);
    if status.success() || (keeps_words && !is_said) {
        return Err(format!("some node had to say that a victim was lost; {status}"));
    }
    Ok(if is_said { Ending::Error } else { Ending::Silence })
}
