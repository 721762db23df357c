//! Host peers: what nodes of one host share, which are arenas, boards of regions, rings and the private sockets that pass their
//! descriptors. Never a backend: `shm` and `cma` stand on it.
//!
//! A neighbour is another node of this host. [`HostPeers`] is opened once per node and shared by those backends.

mod arena;
mod doorbell;
mod host_peer;
mod host_peers;
mod link;
mod peer_row;
mod transfer;

pub use arena::{ArenaError, Arenas};
pub use host_peers::HostPeers;

pub(crate) use doorbell::ring_doorbell;
pub(crate) use host_peer::{Fate, HostPeer, PeerClaim, RING_CONTROL_BYTES, Rings};
pub(crate) use link::Introduction;
pub(crate) use transfer::{get_by, put_by};

#[cfg(test)]
pub(crate) mod testing;

#[cfg(test)]
mod tests;
