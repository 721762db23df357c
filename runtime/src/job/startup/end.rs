//! The end of a node's process: its exit code, and whether exit handlers may run.
//!
//! They run when `fn main` returns. A PE in the middle of an entry, which no thread can be made to leave, would meet what they have taken
//! apart: then the process ends without them (see [`quit`]).

#![expect(clippy::disallowed_methods, reason = "the process ends, and real threads are joined")]

use crate::job::settings::WRONG_OPTION;
use crate::model::error::JobError;
use crate::node::Outcome;
use chare_lrts::LrtsError;
use chare_lrts::bootstrap::quit;
use std::process::ExitCode;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

/// The end of a node's life.
pub(super) struct End {
    pub(super) result: Result<i32, JobError>,
    /// Whether no PE runs any more.
    pub(super) is_quiet: bool,
    /// The place for the result, if the node has begun.
    pub(super) outcome: Option<Outcome>,
}

impl End {
    /// The exit code for `fn main`; tells the result to those who wait for it. Does not return while PEs run: see [`Program::run`](super::Program::run).
    pub(super) fn exit(self) -> ExitCode {
        let code = match &self.result {
            Ok(code) => exit_byte(*code),
            // Nothing has begun: the options do not fit the machine, or each other.
            Err(JobError::Config(_) | JobError::Lrts { cause: LrtsError::Unreachable { .. }, .. })
                if self.outcome.is_none() =>
            {
                WRONG_OPTION
            }
            Err(_) => 1,
        };
        if let Some(outcome) = self.outcome {
            outcome.send_replace(Some(self.result));
        }
        if self.is_quiet { ExitCode::from(code) } else { quit(code) }
    }
}

/// Waits for threads whose entries may never end, and returns whether they have; after a failure nobody waits any longer.
pub(super) fn join_within(threads: Vec<JoinHandle<()>>, patience: Duration) -> bool {
    let (done, all_done) = mpsc::channel();
    let joiner = move || {
        threads.into_iter().for_each(|thread| drop(thread.join()));
        let _ = done.send(());
    };
    std::thread::Builder::new().spawn(joiner).is_ok() && all_done.recv_timeout(patience).is_ok()
}

/// An exit code as the operating system knows it: one byte; a code that does not fit is a failure.
pub(super) fn exit_byte(code: i32) -> u8 {
    u8::try_from(code).unwrap_or(1)
}
