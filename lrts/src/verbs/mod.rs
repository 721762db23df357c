//! Verbs: the backend over RDMA devices (InfiniBand, RoCE, iWARP), with messages and one-sided access by reliable connections.
//! Never decides about a lease: `leased` does.
//!
//! The libraries are loaded at run time (`rdma-mummy-sys`). From top to bottom: `endpoint` is all that
//! [`crate::leased`] sees; it keeps a `link` for each peer, gets connections from the `manager`, and shares the `queue`s of one
//! `device` among them.
//!
//! 1. Nothing that only some devices have is used: no atomics, no immediate data, no address handles, no on-demand paging.
//! 2. Connections are made by the connection manager alone, which every kind of device has, and when they are needed.
//! 3. A write that completed was acknowledged by the peer's device (by its TCP stack, with iWARP). The poster's release of
//!    the lease follows it on the same connection; so the next operation that claims the memory finds the bytes there.

mod device;
mod endpoint;
mod link;
mod manager;
mod options;
mod queue;

pub use options::VerbsOptions;

use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::leased::{Leased, Opening};
use crate::region::Regions;
use endpoint::Endpoint;
use options::BACKEND;
use std::sync::Arc;
use std::time::Duration;

/// Opens an endpoint on a device of this host. Connections to `peers` are made when they are needed; `patience` is for the
/// control connections. Collective, with peers that agree with the others': every node of the job calls it.
///
/// # Errors
/// The libraries or a device are not here, or some node has another transport.
pub fn open(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    regions: Arc<Regions>,
    options: &VerbsOptions,
    patience: Duration,
) -> Result<Leased, LrtsError> {
    let registrations_max = options.registrations_max;
    let opening = Opening { backend: BACKEND, option: "+verbs DEVICE", registrations_max, peers, patience };
    Leased::open(bootstrap, regions, &opening, |bootstrap, door| {
        Ok(Box::new(Endpoint::open(bootstrap, door, peers.len(), options)?))
    })
}

/// The devices of this host that can carry a job, in the order in which they are preferred.
///
/// ```
/// match chare_lrts::verbs::devices() {
///     Ok(names) => println!("`+verbs` takes: {}", names.join(", ")),
///     Err(why) => println!("{why}"),
/// }
/// ```
///
/// # Errors
/// When the libraries are not here, or the kernel has no RDMA.
pub fn devices() -> Result<Vec<String>, LrtsError> {
    let manager = device::manager()?;
    Ok(device::all(&manager)?.into_iter().map(|device| device.name).collect())
}
