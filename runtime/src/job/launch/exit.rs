//! Exits of nodes' processes, in words and as a number that a shell understands.

use rustix::process::Signal;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;

/// The end of a process.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Exit {
    /// By itself, with this code.
    Code(u8),
    /// By this signal.
    Signal(i32),
    /// It never ran, for this reason.
    NotStarted(String),
    /// With its host, for this reason.
    WithHost(String),
}

impl Exit {
    pub(super) fn of(status: ExitStatus) -> Self {
        match status.signal() {
            Some(signal) => Self::Signal(signal),
            // The kernel keeps eight bits of a code.
            None => Self::Code(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)),
        }
    }

    /// The exit code by which shells report it.
    pub(super) fn code(&self) -> u8 {
        match self {
            Self::Code(code) => *code,
            Self::Signal(signal) => signal_code(*signal),
            Self::NotStarted(_) => 127,
            Self::WithHost(_) => 1,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(out, "exited with code {code}"),
            Self::Signal(signal) => {
                write!(out, "was killed by {}", name_signal(*signal))?;
                explain(*signal).map_or(Ok(()), |why| write!(out, ": {why}"))
            }
            Self::NotStarted(cause) => write!(out, "could not be started: {cause}"),
            Self::WithHost(cause) => write!(out, "was lost: {cause}"),
        }
    }
}

/// The exit code that a shell gives to a process which a signal ended.
pub(super) fn signal_code(signal: i32) -> u8 {
    u8::try_from(signal).map_or(u8::MAX, |signal| signal.saturating_add(128))
}

/// A signal in words: `signal 9 (SIGKILL)`.
pub(super) fn name_signal(signal: i32) -> String {
    match NAMES.iter().find(|(named, _)| named.as_raw() == signal) {
        Some((_, name)) => format!("signal {signal} ({name})"),
        None => format!("signal {signal}"),
    }
}

/// What a signal that the kernel sends says about the process, and what helps.
fn explain(signal: i32) -> Option<&'static str> {
    let why = match Signal::from_named_raw(signal)? {
        Signal::KILL => {
            "if nobody sent it, memory ran out (`dmesg` and the batch system tell); use fewer nodes or more memory"
        }
        Signal::BUS => {
            "memory that is shared or mapped from a file could not be had; see whether /dev/shm or a disk is full, or run with `+nolocal`"
        }
        Signal::XFSZ => {
            "a file, or memory shared between nodes, was to grow beyond the limit of file sizes; raise it (`ulimit -f`)"
        }
        Signal::XCPU => "it has used all the processor time that it may; raise the limit (`ulimit -t`)",
        Signal::SYS => "a sandbox forbids a system call that it made; allow the call (seccomp)",
        _ => return None,
    };
    Some(why)
}

/// The signals that end or stop processes, as `kill -l` calls them.
const NAMES: [(Signal, &str); 27] = [
    (Signal::HUP, "SIGHUP"),
    (Signal::INT, "SIGINT"),
    (Signal::QUIT, "SIGQUIT"),
    (Signal::ILL, "SIGILL"),
    (Signal::TRAP, "SIGTRAP"),
    (Signal::ABORT, "SIGABRT"),
    (Signal::BUS, "SIGBUS"),
    (Signal::FPE, "SIGFPE"),
    (Signal::KILL, "SIGKILL"),
    (Signal::USR1, "SIGUSR1"),
    (Signal::SEGV, "SIGSEGV"),
    (Signal::USR2, "SIGUSR2"),
    (Signal::PIPE, "SIGPIPE"),
    (Signal::ALARM, "SIGALRM"),
    (Signal::TERM, "SIGTERM"),
    (Signal::STKFLT, "SIGSTKFLT"),
    (Signal::XCPU, "SIGXCPU"),
    (Signal::XFSZ, "SIGXFSZ"),
    (Signal::VTALARM, "SIGVTALRM"),
    (Signal::PROF, "SIGPROF"),
    (Signal::IO, "SIGIO"),
    (Signal::POWER, "SIGPWR"),
    (Signal::SYS, "SIGSYS"),
    (Signal::STOP, "SIGSTOP"),
    (Signal::TSTP, "SIGTSTP"),
    (Signal::TTIN, "SIGTTIN"),
    (Signal::TTOU, "SIGTTOU"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_have_words_and_numbers() {
        let killed = Exit::of(ExitStatus::from_raw(15));
        assert_eq!((killed.to_string().as_str(), killed.code()), ("was killed by signal 15 (SIGTERM)", 143));
        for (signal, cure) in [(9, "memory"), (7, "/dev/shm"), (24, "`ulimit -t`"), (25, "`ulimit -f`")] {
            let killed = Exit::of(ExitStatus::from_raw(signal)).to_string();
            assert!(killed.contains(&name_signal(signal)) && killed.contains(cure), "{killed}");
        }
        let exited = Exit::of(ExitStatus::from_raw(3 << 8));
        assert_eq!((exited.to_string().as_str(), exited.code()), ("exited with code 3", 3));
        assert_eq!(name_signal(11), "signal 11 (SIGSEGV)");
        assert_eq!(name_signal(64), "signal 64");
    }
}
