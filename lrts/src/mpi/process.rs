//! Process: a node's address in MPI, a communicator and a rank in it.

use chare_mpi_sys::Communicator;
use std::sync::Arc;

/// A process of a communicator, at which a node receives.
#[derive(Clone)]
pub struct Process {
    /// Where it receives.
    pub communicator: Arc<Communicator>,
    /// Its rank there.
    pub rank: u32,
}
