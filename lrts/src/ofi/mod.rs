//! OFI: the backend over any fabric that libfabric knows, with messages by reliable datagrams and memory by one-sided reads and
//! writes under leases. Never decides about a lease: `leased` does.
//!
//! The library is loaded at run time (`chare_ofi_sys`); `provider` chooses who carries the job, `endpoint` is all of
//! libfabric that [`crate::leased`] sees.

mod endpoint;
mod info;
mod options;
mod provider;

pub use options::OfiOptions;

use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::leased::{Leased, Opening};
use crate::region::Regions;
use endpoint::Endpoint;
use options::BACKEND;
use std::sync::Arc;
use std::time::Duration;

/// Opens an endpoint and greets `peers`, within `patience` after all nodes have published where they are.
/// Collective, with peers that agree with the others': every node of the job calls it.
///
/// # Errors
/// libfabric or a suitable provider is not here, some node has another one, or is not reached in time.
pub fn open(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    regions: Arc<Regions>,
    options: &OfiOptions,
    patience: Duration,
) -> Result<Leased, LrtsError> {
    let registrations_max = options.registrations_max;
    let opening = Opening { backend: BACKEND, option: "+ofi NAME", registrations_max, peers, patience };
    Leased::open(bootstrap, regions, &opening, |bootstrap, _| {
        let library = provider::load()?;
        let offer = provider::choose(library, options.provider.as_deref(), bootstrap.host_address())?;
        Ok(Box::new(Endpoint::open(library, offer, bootstrap.nodes())?))
    })
}

/// The providers of this host that can carry a job, the best first.
///
/// ```
/// match chare_lrts::ofi::providers() {
///     Ok(names) => println!("`+ofi` takes one of: {}", names.join(", ")),
///     Err(why) => println!("{why}"),
/// }
/// ```
///
/// # Errors
/// When libfabric is not here.
pub fn providers() -> Result<Vec<String>, LrtsError> {
    provider::suitable()
}
