//! Bootstrap: tells a node who is in the job, before messages exist.
//!
//! A bootstrap answers four questions: which node am I, how many are there, what did the others publish, and
//! which of them share this host (with a private socket to each of those). It never carries messages.

mod address;
pub mod control;
mod host;
pub mod hosts;
mod inherited;
pub mod launched;
pub mod listening;
pub mod local;
pub mod managed;
mod quit;
pub mod single;
mod variables;
mod wait;

pub use quit::quit;

use crate::error::LrtsError;
use crate::ids::NodeId;
use listening::{Listening, Ports};
use rustix::fd::OwnedFd;

/// Proves that a peer belongs to the job. Made by the process that starts the job, passed over inherited descriptors.
#[derive(Clone)]
pub struct JobKey(pub [u8; 32]);

impl JobKey {
    /// A fresh key.
    pub fn random() -> Self {
        Self(rand::random())
    }
}

impl std::fmt::Debug for JobKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("JobKey(secret)")
    }
}

/// A node's place in the job and its means to find the others.
pub trait Bootstrap: Send {
    /// This node.
    fn node(&self) -> NodeId;

    /// How many nodes the job has.
    fn nodes(&self) -> u32;

    /// The job's key.
    fn key(&self) -> &JobKey;

    /// The other nodes of this host, in order, until their sockets are taken.
    fn neighbours(&self) -> Vec<NodeId>;

    /// Takes the private sockets to the other nodes of this host: connected `SOCK_SEQPACKET` unix
    /// sockets, one per neighbour. A second call returns nothing.
    fn take_neighbours(&mut self) -> Vec<(NodeId, OwnedFd)>;

    /// Decides where this node listens. Collective: every node calls it once, before any asks for an address.
    ///
    /// # Errors
    /// When this host has no such place, or another node does not arrive in time.
    fn listen(&mut self, listening: &Listening) -> Result<(), LrtsError> {
        // Nobody listens, but what the user asks for must be there.
        listening.address(false).map(drop)
    }

    /// The ports on which this node may listen; `None`: the kernel chooses.
    fn ports(&self) -> Option<Ports> {
        None
    }

    /// The address that peers reach this node by; `None`: all nodes are on this host, loopback suffices.
    fn host_address(&self) -> Option<std::net::IpAddr>;

    /// The MPI communicator of all nodes, by node, if MPI says who is in the job.
    #[cfg(feature = "mpi")]
    fn communicator(&self) -> Option<std::sync::Arc<chare_mpi_sys::Communicator>> {
        None
    }

    /// Publishes `value` and returns what every node published, by node. Collective: every node calls it
    /// equally often. At most 1,024 bytes. Blocks until all have called.
    ///
    /// # Errors
    /// When the job ends or a node does not arrive in time; the message names who is missing.
    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError>;
}
