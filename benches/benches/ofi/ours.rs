//! The side of ours: two nodes, two processes, the backend and nothing above it.

use crate::Task;
use chare::Program;
use chare_benches::{Deed, play_pair, processor, take_seat};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::launched::Launched;
use chare_lrts::ofi::{self, OfiOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(30);

/// The program that a launcher starts twice, and the launcher.
pub(crate) fn play(task: Task<'_>) -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    if !program.is_launched() {
        return program.run(|_| async {});
    }
    match take_part(task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn take_part(task: Task<'_>) -> Result<(), LrtsError> {
    let missing = || LrtsError::Bootstrap("no launcher".to_owned());
    let mut launched = Launched::from_environment()?.ok_or_else(missing)?;
    let node = launched.node();
    take_seat(processor(node.index()));
    let regions = Arc::new(Regions::new(node)?);
    let mut options = OfiOptions { provider: Some(task.provider.to_owned()), ..OfiOptions::default() };
    if task.what == "get-uncached" {
        options.registrations_max = 0;
    }
    let other = NodeId(1 - node.0);
    let ofi = ofi::open(&mut launched, &[other], Arc::clone(&regions), &options, PATIENCE)?;
    let deed = match task.what {
        "message" => Deed::Message,
        "put" => Deed::Put(task.bytes),
        _ => Deed::Get(task.bytes),
    };
    play_pair(&ofi, &regions, deed, task.batches);
    launched.into_control().finished(0);
    Ok(())
}
