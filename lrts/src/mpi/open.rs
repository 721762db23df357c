//! Start-up of an endpoint, once MPI runs.
//!
//! Every node posts its receives, and each pair makes its keepalive connection, which proves that both belong to the job. That all nodes
//! have made theirs proves that all have posted.

use super::callers::Callers;
use super::endpoint::Endpoint;
use super::exchange::{MatchedExchange, Parts};
use super::flow::Process;
use super::server::Server;
use super::start::BACKEND;
use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::fabric::sleeper::Sleeper;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::tcp::keepalive::Keepalives;
use std::sync::Arc;
use std::time::Duration;

/// All that a node knows of its peers.
///
/// # Errors
/// See [`Mpi::open`](super::Mpi::open).
pub(super) fn open(
    bootstrap: &mut dyn Bootstrap,
    expected: &[NodeId],
    regions: &Arc<Regions>,
    processes: &[Process],
    patience: Duration,
) -> Result<(MatchedExchange, Callers, Sleeper), LrtsError> {
    let node = bootstrap.node();
    let own = processes[node.index()].clone();
    let library = own.communicator.library();
    let callers = Callers::of(library)?;
    let ticket = callers.ticket().expect("the thread that opens an endpoint may call MPI");
    let endpoint = Endpoint::open(own, callers.clone(), ticket)
        .map_err(|error| LrtsError::Bootstrap(format!("{}: {error}", library.version())))?;
    let keepalives = Keepalives::open(BACKEND, bootstrap, expected, patience)?;
    let sleeper = Sleeper::new(BACKEND, None, keepalives.event_fd())?;
    let peer = |(peer, process): (NodeId, &Process)| {
        expected.contains(&peer).then(|| (process.clone(), Server::new(Arc::clone(regions))))
    };
    let peers = (0..).map(NodeId).zip(processes).map(peer).collect();
    let signs = Box::new(keepalives);
    Ok((MatchedExchange::new(Parts { node, endpoint, signs, peers }), callers, sleeper))
}
