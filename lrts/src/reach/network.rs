//! Network to other hosts: opens the one that was asked for, if this build has it.

use super::fabric::Fabric;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
use super::options::PATIENCE;
use super::options::ReachOptions;
use crate::backends::Network;
use crate::bootstrap::Bootstrap;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
use crate::emulated::Emulated;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::region::Regions;
use crate::wrappers::Wrappers;
use std::sync::Arc;

/// Opens `network` to `peers`. Collective.
///
/// # Errors
/// The network's.
#[cfg_attr(
    not(all(feature = "ofi", feature = "verbs", feature = "mpi")),
    allow(unused_variables, reason = "each network needs its own part of them")
)]
pub(super) fn open_network(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    regions: &Arc<Regions>,
    (options, wrappers): (&ReachOptions, &Wrappers),
    network: Network,
) -> Result<Box<dyn Fabric>, LrtsError> {
    match network {
        #[cfg(feature = "ofi")]
        Network::Ofi => {
            let options = crate::ofi::OfiOptions { provider: options.ofi.clone(), ..Default::default() };
            let ofi = crate::ofi::open(bootstrap, peers, Arc::clone(regions), &options, PATIENCE)?;
            Ok(Box::new(Emulated::new(wrappers.around_network(ofi)?, Arc::clone(regions), bootstrap.nodes())))
        }
        #[cfg(feature = "verbs")]
        Network::Verbs => {
            let options = crate::verbs::VerbsOptions { device: options.verbs.clone(), ..Default::default() };
            let verbs = crate::verbs::open(bootstrap, peers, Arc::clone(regions), &options, PATIENCE)?;
            Ok(Box::new(Emulated::new(
                wrappers.around_network(verbs)?,
                Arc::clone(regions),
                bootstrap.nodes(),
            )))
        }
        #[cfg(feature = "mpi")]
        Network::Mpi => {
            let nodes = bootstrap.nodes();
            let Some(communicator) = bootstrap.communicator() else {
                return Err(LrtsError::Bootstrap(format!(
                    "`+lrts mpi` runs under MPI's own launcher: start the program with `mpirun -n {nodes}`, `mpiexec -n {nodes}` or `srun -n {nodes}`, without `+n`"
                )));
            };
            let process = |rank| crate::mpi::Process { communicator: Arc::clone(&communicator), rank };
            let processes: Vec<_> = (0..nodes).map(process).collect();
            let mpi = crate::mpi::Mpi::open(bootstrap, peers, Arc::clone(regions), &processes, PATIENCE)?;
            Ok(Box::new(Emulated::new(wrappers.around_network(mpi)?, Arc::clone(regions), nodes)))
        }
        #[cfg(not(all(feature = "ofi", feature = "verbs")))]
        missing => unreachable!("the options were checked, and this build has no {}", missing.name()),
    }
}
