//! What nodes of one host share: mapped memory, the board of regions, arenas, and the private sockets
//! that pass their descriptors.
//!
//! A [`Neighbourhood`] is opened once per node and shared by the backends `shm` and `cma`.

mod arena;
mod doorbell;
mod link;
mod neighbour;
mod neighbourhood;
mod transfer;

pub use arena::{ArenaError, Arenas};
pub use neighbourhood::Neighbourhood;

pub(crate) use doorbell::ring_doorbell;
pub(crate) use link::Introduction;
pub(crate) use neighbour::{Fate, Neighbour, PeerClaim, RING_CONTROL_BYTES, Rings};
pub(crate) use transfer::{get_by, put_by};

#[cfg(all(test, not(loom)))]
pub(crate) mod testing;

#[cfg(all(test, not(loom)))]
mod tests;
