//! The control plane of a job: its processes are started and kept together. What a node does once it runs never stands here: see
//! `job/life`.
//!
//! A job has one launcher, which runs no PE: the program itself (`./app +n 4`) or `chare-run`. It reaches each node through an agent:
//!
//! ```text
//! launcher ── channel ─────────────── agent ──┬─ socket, pipes ── node 0     this host
//!    │                                        └─ socket, pipes ── node 1
//!    └─ remote shell's standard in/output ── agent ──┬─ ...       node 2     another host
//!                                     (chare-run --agent) └─ ...  node 3
//! ```
//!
//! `plan` says what to start and where, on `hosts`; `agent`, `node`, `process` and `introduce` start it on a host; `message` and `remote` carry the
//! messages between launcher and agents; `job` decides; `launcher` runs it all; `output` prints. The messages between a node and its
//! agent are `chare_lrts::bootstrap::control`.
//!
//! 1. No node outlives its launcher, however the launcher ends: the kernel kills its children before they have joined, afterwards they see
//!    their socket end, and agents on other hosts their pipe. What a node has started ends with the node, unless it has left the node's
//!    process group.
//! 2. A job that fails reports the cause once, on standard error, and ends with a code that is not zero. Nothing hangs.
//! 3. Processes meet through inherited descriptors only: nothing has a name that others could guess or that could be left behind.

mod agent;
mod control_thread;
mod exit;
pub(super) mod hosts;
mod introduce;
mod job;
mod launcher;
mod message;
mod node;
mod output;
mod plan;
mod process;
mod remote;

pub use crate::job::patience::{TIMEOUT_VARIABLE, TimeoutError, startup_timeout};
pub use crate::job::settings::WRONG_OPTION;
pub use hosts::{Host, HostError};
pub use launcher::launch;
pub use plan::{NODES_MAX, Plan, PlanError};
pub use remote::serve_agent;

use crate::job::settings::Config;
use chare_lrts::events;
use std::ffi::OsString;
use std::process::ExitCode;

/// Starts the nodes that `config` asks for on this host, as further processes of `program`, and returns the job's exit
/// code: what `./app +n 4` does. `argv` is this process's own, name included: each node reads the same options.
///
/// A process that finds a launcher (`Launched::from_environment`) must not call this function. It blocks until no process of the job is
/// left; an error is one line on standard error. Call it before other threads exist.
#[must_use = "the code says how the job ended: return it from `fn main() -> std::process::ExitCode`"]
pub fn run_here(config: &Config, program: impl Into<OsString>, argv: Vec<OsString>) -> ExitCode {
    let patience = match startup_timeout() {
        Ok(patience) => patience,
        Err(error) => {
            events::error(format_args!("chare: {error}"));
            return ExitCode::from(WRONG_OPTION);
        }
    };
    launch(&Plan {
        nodes: config.nodes,
        hosts: Vec::new(),
        remote_shell: Vec::new(),
        program: program.into(),
        argv,
        environment: Vec::new(),
        prefix: false,
        patience,
        must_join: true,
    })
}
