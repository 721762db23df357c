//! Our side for networks with one-sided access: two nodes, two processes, the backend and nothing above it.

use crate::{Batches, Deed, play_pair, processor, take_seat};
use chare::Program;
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::Launched;
use chare_lrts::leased::Leased;
use chare_lrts::{LrtsError, NodeId, Regions};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// What a side does.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// Which of the backend's networks.
    pub network: &'a str,
    /// `message`, `put`, `get`, or `get-uncached`.
    pub what: &'a str,
    /// How often.
    pub batches: Batches,
    /// Bytes of an operation.
    pub bytes: usize,
}

/// Opens the backend to one other node.
pub type Open = fn(&mut dyn Bootstrap, NodeId, Arc<Regions>, Task<'_>) -> Result<Leased, LrtsError>;

/// How long nodes wait for each other.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// The program that a launcher starts twice, and the launcher.
pub fn play(task: Task<'_>, open: Open) -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !program.is_launched() {
        return program.run(|_| async {});
    }
    match take_part(task, open) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn take_part(task: Task<'_>, open: Open) -> Result<(), LrtsError> {
    let missing = || LrtsError::Bootstrap("no launcher".to_owned());
    let mut launched = Launched::from_environment()?.ok_or_else(missing)?;
    let node = launched.node();
    take_seat(processor(node.index()));
    let regions = Arc::new(Regions::new(node)?);
    let network = open(&mut launched, NodeId(1 - node.0), Arc::clone(&regions), task)?;
    let deed = match task.what {
        "message" => Deed::Message,
        "put" => Deed::Put(task.bytes),
        _ => Deed::Get(task.bytes),
    };
    play_pair(&network, &regions, deed, task.batches);
    launched.into_control().finished(0);
    Ok(())
}
