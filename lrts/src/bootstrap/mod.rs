//! Bootstrap: tells a node who is in the job, before messages exist.
//!
//! A bootstrap answers four questions: which node am I, how many are there, what did the others publish, and
//! which of them share this host (with a private socket to each of those). It never carries messages.

mod address;
pub mod control;
pub mod hosts;
mod inherited;
pub mod launched;
pub mod launchers;
pub mod listening;
pub mod local;
#[cfg(feature = "net")]
pub mod managed;
mod membership;
mod quit;
pub mod single;
mod variables;
mod wait;

pub use membership::{JobKey, Membership};
pub use quit::quit;

use crate::error::LrtsError;
use crate::ids::NodeId;
use listening::{Listening, Ports};
use rustix::fd::OwnedFd;

/// A node's place in the job and its means to find the others.
pub trait Bootstrap: Send {
    /// What this node knows of the job.
    fn membership(&self) -> &Membership;

    /// The same, to be changed: neighbours are taken from it, and where it listens is entered.
    fn membership_mut(&mut self) -> &mut Membership;

    /// Publishes `value` and returns what every node published, by node. Collective: every node calls it
    /// equally often. At most 1,024 bytes. Blocks until all have called.
    ///
    /// # Errors
    /// When the job ends or a node does not arrive in time; the message names who is missing.
    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError>;

    /// Whether some node of the job may be on another host. Collective.
    ///
    /// # Errors
    /// As of [`all_gather`](Self::all_gather).
    fn has_other_hosts(&mut self) -> Result<bool, LrtsError> {
        Ok(false)
    }

    /// The MPI communicator of all nodes, by node, if MPI says who is in the job.
    #[cfg(feature = "mpi")]
    fn communicator(&self) -> Option<std::sync::Arc<chare_mpi_sys::Communicator>> {
        None
    }

    /// This node.
    fn node(&self) -> NodeId {
        self.membership().node
    }

    /// How many nodes the job has.
    fn nodes(&self) -> u32 {
        self.membership().nodes
    }

    /// The job's key.
    fn key(&self) -> &JobKey {
        &self.membership().key
    }

    /// The other nodes of this host, in order, until their sockets are taken.
    fn neighbours(&self) -> Vec<NodeId> {
        self.membership().neighbours.iter().map(|(peer, _)| *peer).collect()
    }

    /// Takes the private sockets to the other nodes of this host: connected `SOCK_SEQPACKET` unix
    /// sockets, one per neighbour. A second call returns nothing.
    fn take_neighbours(&mut self) -> Vec<(NodeId, OwnedFd)> {
        std::mem::take(&mut self.membership_mut().neighbours)
    }

    /// Decides where this node listens. Collective: every node calls it once, before any asks for an address. Also where nobody
    /// would listen, what the user asks for must be there.
    ///
    /// # Errors
    /// When this host has no such place, or another node does not arrive in time.
    fn listen(&mut self, listening: &Listening) -> Result<(), LrtsError> {
        let has_other_hosts = self.has_other_hosts()?;
        self.membership_mut().listen(listening, has_other_hosts)
    }

    /// The ports on which this node may listen; `None`: the kernel chooses.
    fn ports(&self) -> Option<Ports> {
        self.membership().ports
    }

    /// The address that peers reach this node by; `None`: all nodes are on this host, loopback suffices.
    fn host_address(&self) -> Option<std::net::IpAddr> {
        self.membership().host_address
    }
}
