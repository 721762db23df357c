//! Simulated network of a node: one more [`Fabric`], with the real `emulated` above it, and the real `leased` where memory is reached
//! one-sidedly. `reach -> **reach/simulated** -> simulated/end`

use super::fabric::Fabric;
use super::options::ReachOptions;
use super::route::{Carrier, Route};
use super::{Parts, Reach};
use crate::emulated::Emulated;
use crate::engine::Thresholds;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::lrts::{Lrts, PathUse};
use crate::region::Regions;
use crate::simulated::{End, Endpoint, Fidelity, Wires};
use crate::waker::Waker;
use crate::wrappers::{Wrapped, Wrappers};
use std::ops::Range;
use std::sync::Arc;

impl Reach {
    /// A node's end of wires between so many nodes; `neighbours` are those on its host, itself among them. Without descriptors, and without
    /// memory that others map. Of the options, `trace`, `fault` and `tags` count. For steps of a driven thread: [`Reach::wait`] does not wait there.
    ///
    /// # Errors
    /// When the trace's file cannot be written, there are to be tags in a build that has none, or the kernel grants no descriptors for faults.
    pub fn simulated(
        node: NodeId,
        nodes: u32,
        neighbours: Range<u32>,
        wires: &Arc<Wires>,
        fidelity: Fidelity,
        options: &ReachOptions,
    ) -> Result<Self, LrtsError> {
        let regions = Arc::new(Regions::private(node)?);
        if options.tags && cfg!(not(feature = "net")) {
            return Err(LrtsError::Bootstrap(
                "`+tags` needs the feature `net`, which this build has not".to_owned(),
            ));
        }
        let tags = options.tags.then(|| (wires.key_of_tags(), nodes));
        let wrappers = Wrappers::new(node, options.traced(), options.fault.as_ref(), tags)?;
        // Threads that drive neighbours do not look into each other's memory.
        let lends = fidelity == Fidelity::Direct && !wires.are_modelled();
        let fabric: Box<dyn Fabric> = match fidelity {
            Fidelity::Emulated => {
                let end = wrappers.around_network(End::new(node, nodes, wires))?;
                Box::new(Emulated::new(end, Arc::clone(&regions), nodes))
            }
            Fidelity::Direct => {
                let end = wrappers.around_network(End::direct(&regions, nodes, wires, lends))?;
                Box::new(Emulated::new(end, Arc::clone(&regions), nodes))
            }
            Fidelity::Leased => {
                let leased = wrappers.around_network(Endpoint::open(&regions, nodes, wires))?;
                Box::new(Emulated::new(leased, Arc::clone(&regions), nodes))
            }
        };
        let route = |peer: NodeId| Route {
            messages: if peer == node { Carrier::Myself } else { Carrier::Fabric },
            mapping: lends && peer != node && neighbours.contains(&peer.0),
            kernel_copy: false,
            direct: fidelity != Fidelity::Emulated && peer != node,
        };
        let parts = Parts {
            regions,
            host_peers: None,
            routes: (0..nodes).map(NodeId).map(route).collect(),
            shm: None,
            tcp: None,
            fabric: Some(fabric),
            cma: None,
            arenas: None,
            engines: Vec::new(),
            thresholds: Thresholds::default(),
            trace: wrappers.trace_file().cloned(),
            warnings: Vec::new(),
        };
        Ok(Self::assemble_around(parts, Waker::noted()))
    }
}

impl Fabric for Emulated<Wrapped<End>> {
    fn carrier(&self) -> &dyn Lrts {
        self
    }

    fn direct(&self) -> &dyn Lrts {
        self.inner()
    }

    fn direct_bytes_min(&self) -> usize {
        if self.inner().bare().is_direct() { 0 } else { usize::MAX }
    }

    fn sent(&self, peer: NodeId) -> PathUse {
        self.inner().bare().sent(peer)
    }

    fn describe(&self) -> String {
        "a simulated network".to_owned()
    }

    fn own_way(&self) -> &'static str {
        "its own access"
    }
}
