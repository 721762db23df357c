//! Our side: two nodes, two processes, the backend and nothing above it; and the task of a side, either's: what it is to do, and how often.

use chare_benches::launcher;
use chare_benches::{Batches, Deed, play_pair, processor, take_seat};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::bootstrap::managed::Managed;
use chare_lrts::mpi::{Mpi, Process};
use chare_lrts::{LrtsError, NodeId, Regions};
use std::sync::Arc;
use std::time::Duration;

/// What a side does.
#[derive(Clone, Copy)]
pub(crate) struct Task<'a> {
    pub(crate) mpi: &'a launcher::Mpi,
    pub(crate) what: &'a str,
    pub(crate) batches: Batches,
    pub(crate) bytes: usize,
}

const PATIENCE: Duration = Duration::from_secs(30);

/// One of the two processes.
pub(crate) fn play(task: Task<'_>) -> Result<(), LrtsError> {
    let mut managed = Managed::by_mpi(Some(&task.mpi.library()), PATIENCE)?;
    let node = managed.node();
    take_seat(processor(node.index()));
    let communicator = managed.communicator().expect("MPI says who is in the job");
    let places = [0, 1].map(|rank| Process { communicator: Arc::clone(&communicator), rank });
    let regions = Arc::new(Regions::new(node)?);
    let other = NodeId(1 - node.0);
    let mpi = Mpi::open(&mut managed, &[other], Arc::clone(&regions), &places, PATIENCE)?;
    let deed = match task.what {
        "message" => Deed::Message,
        "put" => Deed::Put(task.bytes),
        _ => Deed::Get(task.bytes),
    };
    play_pair(&mpi, &regions, deed, task.batches);
    drop(mpi);
    managed.into_session().finish();
    Ok(())
}
