//! Low-level runtime system of `chare`: bytes, nodes and memory. It knows no chare.

#[cfg(feature = "net")]
mod aead;
mod ambient;
pub mod codec;
mod engine;
mod error;
mod frame;
mod ids;
mod lrts;
pub mod mapping;
mod memory;
mod notification;
mod operation;
mod peer_state;
mod region;
mod runs;
mod sync;
mod waker;

pub mod backends;
pub mod bootstrap;
pub mod cma;
pub mod emulated;
pub mod events;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim"))]
mod fabric;
/// Doors for the fuzzers: bytes as a stranger or a peer could send them. No part of the interface.
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing {
    pub use crate::tcp::fuzzing::{accept, connect, frames, greet};
}
pub mod host;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "sim"))]
#[cfg_attr(
    not(any(feature = "ofi", feature = "verbs")),
    expect(dead_code, reason = "the simulated network is opened without a start-up")
)]
pub mod leased;
pub mod memcpy;
#[cfg(feature = "mpi")]
pub mod mpi;
#[cfg(feature = "ofi")]
pub mod ofi;
pub mod reach;
pub mod shm;
#[cfg(feature = "sim")]
pub mod simulated;
#[cfg(feature = "net")]
pub mod tcp;
#[cfg(feature = "verbs")]
pub mod verbs;
pub mod wrappers;

pub use ambient::caller::may_block;
#[cfg(feature = "sim")]
pub use ambient::{Ambient, Common};
pub use ambient::{Waiting, clock, dice};
#[doc(hidden)]
pub use ambient::{knobs, marks};
pub use error::{LrtsError, TransferError};
pub use frame::{Channel, Frame};
pub use ids::NodeId;
pub use lrts::{
    Capabilities, Completion, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink, Token,
};
pub use memory::{DeviceMemory, Memory, MemoryId, MemoryMut, Owner, Place, Share};
pub use region::claim;
pub use region::{
    Claim, ClaimError, ClaimedRange, Divided, EndListener, Extent, Held, RegionKey, Regions, Vector,
    check_range,
};
pub use runs::{Run, Runs};
pub use sync::{bell, sparse, spin_lock};
