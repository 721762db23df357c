//! Process families: a program under test, the processes that it starts, and those that these start. Wherever they move, they
//! inherit its environment.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open};
use std::fs;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// The variable that the environment of every member has.
const VARIABLE: &str = "UNDER_TEST";

/// Counts the families of this process; only ever added to.
static FAMILIES: AtomicU32 = AtomicU32::new(0);

/// A program under test and all that it starts. A process that clears its environment is lost sight of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family(String);

impl Family {
    /// That of the program which `command` will start.
    pub fn of(command: &mut Command) -> Self {
        let name = format!("{}-{}", std::process::id(), FAMILIES.fetch_add(1, Ordering::Relaxed));
        command.env(VARIABLE, &name);
        Self(name)
    }

    /// Those that live. Reads the environment of every process of the machine.
    pub fn members(&self) -> Vec<Pid> {
        let ours = format!("{VARIABLE}={}", self.0);
        let is_member = |pid: &Pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|word| word == ours.as_bytes())
        };
        let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids = processes.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?));
        pids.filter(is_member).collect()
    }

    /// Kills all that live.
    pub fn kill(&self) {
        for pid in self.members() {
            // Whatever has ended by itself in the meantime needs no signal.
            let _ = kill_process(pid, Signal::KILL);
        }
    }

    /// Waits until none is left, at most until the deadline; returns those that are.
    pub fn wait_for_end(&self, deadline: Instant) -> Vec<Pid> {
        loop {
            let left = self.members();
            match left.first() {
                Some(one) if wait_for_end(*one, deadline) => {}
                _ => return left,
            }
        }
    }
}

/// Waits until a process has ended, at most until the deadline; returns whether it has. Whether its parent knows is another question.
///
/// # Panics
/// If the kernel watches no processes.
pub fn wait_for_end(pid: Pid, deadline: Instant) -> bool {
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(Errno::SRCH) => return true,
        Err(cause) => panic!("process {pid} cannot be watched: {cause}"),
    };
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).expect("a test's patience ends");
        match poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout)) {
            Ok(ended) => return ended > 0,
            Err(Errno::INTR) => {}
            Err(cause) => panic!("process {pid} cannot be waited for: {cause}"),
        }
    }
}
