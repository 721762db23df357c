//! Simulated network of a node: one more [`Fabric`], with the real `emulated` above it. `reach -> **reach/simulated** -> simulated/end`

use super::fabric::Fabric;
use super::options::ReachOptions;
use super::route::{Carrier, Route};
use super::{Parts, Reach};
use crate::emulated::Emulated;
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::lrts::{Lrts, PathUse};
use crate::region::Regions;
use crate::simulated::{End, Wires};
use crate::waker::Waker;
use crate::wrappers::{Wrapped, Wrappers};
use std::sync::Arc;

impl Reach {
    /// A node's end of wires between so many nodes: without descriptors, and without memory that others map. Of the options, `trace`, `fault`
    /// and `tags` count. For steps of a driven thread: [`Reach::wait`] does not wait there.
    ///
    /// # Errors
    /// When the trace's file cannot be written, there are to be tags in a build that has none, or the kernel grants no descriptors for faults.
    pub fn simulated(
        node: NodeId,
        nodes: u32,
        wires: &Arc<Wires>,
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
        let end = wrappers.around_network(End::new(node, nodes, wires))?;
        let carrier = Emulated::new(end, Arc::clone(&regions), nodes);
        let route = |peer| Route {
            messages: if peer == node { Carrier::Myself } else { Carrier::Fabric },
            mapping: false,
            kernel_copy: false,
            // Its memory goes by messages alone.
            direct: false,
        };
        let parts = Parts {
            regions,
            host_peers: None,
            routes: (0..nodes).map(NodeId).map(route).collect(),
            shm: None,
            tcp: None,
            fabric: Some(Box::new(carrier)),
            cma: None,
            arenas: None,
            engines: Vec::new(),
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
        usize::MAX
    }

    fn sent(&self, peer: NodeId) -> PathUse {
        self.inner().bare().sent(peer)
    }

    fn describe(&self) -> String {
        "a simulated network".to_owned()
    }

    fn own_way(&self) -> &'static str {
        "nothing of its own"
    }
}
