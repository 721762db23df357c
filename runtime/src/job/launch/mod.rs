//! Starting the processes of a job and keeping them together: the control plane.
//!
//! A job has one launcher, which runs no PE: the program itself (`./app +n 4`) or `chare-run`. Who does what:
//!
//! ```text
//! launcher ── channel ─────────────── agent ──┬─ socket, pipes ── node 0     this host
//!    │                                        └─ socket, pipes ── node 1
//!    └─ remote shell's standard in/output ── agent ──┬─ ...       node 2     another host
//!                                     (chare-run --agent) └─ ...  node 3
//! ```
//!
//! `plan` says what to start and where; `agent`, `node`, `process` and `introduce` start it on a host; `message` and `remote` carry
//! what the two sides say; `job` decides; `launcher` runs it all; `output` prints.
//! What a node says to its agent is `chare_lrts::bootstrap::control`.
//!
//! 1. No process of a job outlives its launcher, however that ends: the kernel kills its children, and agents on other
//!    hosts see their pipe end.
//! 2. A job that fails says why once, on standard error, and ends with a code that is not zero. Nothing hangs.
//! 3. Nothing has a name that others could guess or that could be left behind: only inherited descriptors.

mod address;
mod agent;
mod control_thread;
mod exit;
mod introduce;
mod job;
mod launcher;
mod message;
mod node;
mod output;
mod plan;
mod process;
mod remote;
mod signals;

pub use crate::job::limits::TIMEOUT_VARIABLE;
pub use address::AddressError;
pub use launcher::launch;
pub use plan::{NODES_MAX, Plan, PlanError, startup_timeout};
pub use remote::serve_agent;

use crate::job::config::Config;
use std::ffi::OsString;
use std::process::ExitCode;

/// Starts the nodes that `config` asks for on this host, as further processes of `program`, and returns the job's exit
/// code: what `./app +n 4` does. `argv` is this process's own, name included: each node reads the same options.
///
/// A process that finds a launcher (`Launched::from_environment`) must not call it. Blocks until no process of the job
/// is left; what goes wrong is said in one line on standard error. Call it before other threads exist.
pub fn run_here(config: &Config, program: impl Into<OsString>, argv: Vec<OsString>) -> ExitCode {
    let patience = match startup_timeout() {
        Ok(patience) => patience,
        Err(error) => {
            eprintln!("chare: {error}");
            return ExitCode::FAILURE;
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
