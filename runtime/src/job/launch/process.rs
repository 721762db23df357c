//! The process of a node: started so that it never outlives its launcher, and signalled only while it is not reaped.
//!
//! 1. The process leads a process group of its own: a terminal's Ctrl-C reaches it through the launcher, once, and force reaches all that
//!    it started as well.
//! 2. The kernel kills the process when the thread that started it ends. That thread runs the launcher to its end. A node that has joined
//!    takes that over: it sees its socket end, and kills its group with itself.
//! 3. The process inherits standard input, output, error and one socket; no other descriptor, whatever the launcher's own caller left
//!    open: a lock on a file would be held for as long as any process of the job lives.
//! 4. The group ends with its process: what is left of it is killed before the process is reaped. Afterwards nobody signals it: its number
//!    may belong to another process then.

#![expect(unsafe_code, reason = "runs code between fork and exec, and lets tokio watch a socket")]

use super::message::Program;
use chare_lrts::bootstrap::launched::VARIABLE;
use rustix::fd::{AsRawFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::OFlags;
use rustix::io::{Errno, FdFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus};
use std::cell::Cell;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;
use tokio::io::unix::AsyncFd;

/// Starts a node's process and returns the agent's end of its socket; the process finds the other end through its environment. `reads`
/// says whether standard input is for this process.
pub(super) fn start(program: &Program, reads: bool) -> io::Result<(Child, AsyncFd<OwnedFd>)> {
    let (ours, theirs) =
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)?;
    let os = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let mut command = Command::new(os(&program.file));
    if let Some((name, arguments)) = program.argv.split_first() {
        command.arg0(os(name)).args(arguments.iter().map(|argument| os(argument)));
    }
    command.envs(program.environment.iter().map(|(name, value)| (os(name), os(value))));
    let inode = rustix::fs::fstat(&theirs)?.st_ino;
    command.env(VARIABLE, format!("{}:{inode}", theirs.as_raw_fd()));
    if let Some(directory) = &program.directory {
        command.current_dir(os(directory));
    }
    // A process group in the background is stopped when it reads a terminal.
    let reads = reads && program.inherits_input && !io::stdin().is_terminal();
    command.stdin(if reads { Stdio::inherit() } else { Stdio::null() });
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    die_with_launcher(&mut command);
    let number = theirs.as_raw_fd();
    let leave_open = move || {
        // SAFETY: `start` keeps the socket open until the process has started, and fork gave it the same number.
        let socket = unsafe { BorrowedFd::borrow_raw(number) };
        Ok(rustix::io::fcntl_setfd(socket, FdFlags::empty())?)
    };
    // SAFETY: between fork and exec, `leave_open` makes one system call; it allocates nothing and takes no lock that a
    // thread of the parent could have held.
    unsafe { command.pre_exec(leave_open) };
    // The agent's end alone: the two ends are two open files, and the node's end blocks.
    rustix::fs::fcntl_setfl(&ours, OFlags::NONBLOCK)?;
    // SAFETY: the socket stays open and the same as long as `AsyncFd` owns it: nobody takes it out or changes it.
    let ours = unsafe { AsyncFd::register(ours) }?;
    let child = command.spawn()?;
    drop(theirs);
    Ok((child, ours))
}

/// Keeps what this process's own caller left open from all processes that it starts, but for standard input, output and error. To be called
/// before the first start.
///
/// # Errors
/// The kernel's, when it does not tell what is open.
pub(super) fn keep_inheritance() -> io::Result<()> {
    for entry in std::fs::read_dir("/proc/self/fd")? {
        let number = entry?.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok());
        let Some(number) = number.filter(|number| *number > 2) else { continue };
        // SAFETY: only sets a flag of the number, at once; for one that is not open the kernel answers with an error.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        let _ = rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC);
    }
    Ok(())
}

/// Lets the kernel kill the process when the thread that starts it ends.
pub(super) fn die_with_launcher(command: &mut Command) {
    let launcher = rustix::process::getpid();
    let bind = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The launcher may have ended before the call above.
        if rustix::process::getppid() == Some(launcher) { Ok(()) } else { Err(Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec, `bind` makes two system calls; it allocates nothing (an error that holds a number
    // needs no memory) and takes no lock that a thread of the parent could have held.
    unsafe { command.pre_exec(bind) };
}

/// A process to send signals to, as long as it is not reaped.
#[derive(Clone)]
pub(super) struct Target(Rc<Cell<Option<Pid>>>);

impl Target {
    pub(super) fn of(child: &Child) -> Self {
        Self(Rc::new(Cell::new(Some(Pid::from_child(child)))))
    }

    /// Forgets the process; to be called in the step that reaps it.
    pub(super) fn is_reaped(&self) {
        self.0.set(None);
    }

    /// Whether the process has ended; it is not reaped.
    pub(super) fn has_ended(&self) -> bool {
        // An error means that somebody else has reaped it, which waiting for it will tell.
        self.look(WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map_or(true, |found| found.is_some())
    }

    /// News of the process since the last look: stopped by a signal (`Some(Some(signal))`), going on (`Some(None)`), or none (`None`).
    pub(super) fn look_for_stop(&self) -> Option<Option<i32>> {
        // The end of the process is left for the task that reaps it.
        let found = self.look(WaitIdOptions::STOPPED | WaitIdOptions::CONTINUED).ok()??;
        Some(found.stopping_signal())
    }

    fn look(&self, changes: WaitIdOptions) -> Result<Option<WaitIdStatus>, Errno> {
        let pid = self.0.get().ok_or(Errno::CHILD)?;
        rustix::process::waitid(WaitId::Pid(pid), changes | WaitIdOptions::NOHANG)
    }

    /// Signals the process and all processes that it started and that are still in its group.
    pub(super) fn signal_group(&self, signal: Signal) {
        if let Some(pid) = self.0.get() {
            // Fails only when the process ended just now.
            let _ = rustix::process::kill_process_group(pid, signal);
        }
    }

    /// Signals the process alone.
    pub(super) fn signal(&self, signal: Signal) {
        if let Some(pid) = self.0.get() {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}
