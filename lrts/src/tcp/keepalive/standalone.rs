//! Keepalive connections beside a network of another backend, and the two words that are written on them.

use super::{GOODBYE, HEARD, Keepalives, Sign};
use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::tcp::handshake::Line;
use crate::tcp::mesh;
use crate::tcp::protection::TcpOptions;
use rustix::net::SendFlags;
use std::time::Duration;

/// Signs of peers' lives, and the words that a node adds to its own.
pub(crate) trait Signs: Send {
    /// The signs since the last check.
    fn check(&mut self) -> Vec<(NodeId, Sign)>;

    /// Tells a peer that its goodbye was heard.
    fn write_heard(&self, peer: NodeId);

    /// Says goodbye to a peer that was never sent anything.
    fn write_goodbye(&self, peer: NodeId);
}

impl Signs for Keepalives {
    fn check(&mut self) -> Vec<(NodeId, Sign)> {
        Self::check(self)
    }

    fn write_heard(&self, peer: NodeId) {
        self.write(peer, HEARD);
    }

    fn write_goodbye(&self, peer: NodeId) {
        self.write(peer, GOODBYE);
    }
}

impl Keepalives {
    /// Connects this node to `peers`, for a backend of this name, within `patience` after all nodes have published where they
    /// listen. Collective: every node of the job calls it, with peers that agree with the others'.
    ///
    /// # Errors
    /// Who could not be reached or did not prove that it belongs to the job, or what the kernel refused.
    pub(crate) fn open(
        backend: &'static str,
        bootstrap: &mut dyn Bootstrap,
        peers: &[NodeId],
        patience: Duration,
    ) -> Result<Self, LrtsError> {
        let options = TcpOptions::default();
        Self::watch(backend, mesh::connect_all(bootstrap, peers, &[Line::Keepalive], &options, patience)?)
    }

    fn write(&self, peer: NodeId, word: u8) {
        if let Some(socket) = self.open.get(&peer) {
            // An empty connection takes a byte, or it has ended, which is heard by reading.
            let _ = rustix::net::send(socket, &[word], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }
}
