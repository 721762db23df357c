//! Bells: how nodes of a host that wait for the end of a claim are told that it is time to try again.
//!
//! A node has a count of its news on its board, where its neighbours add to it, and may be asleep: its bell adds one, then wakes it.

use crate::ids::NodeId;
use crate::region::claim::Askers;
use parking_lot::RwLock;
use std::fmt;

/// Adds to a node's news, or wakes it.
pub(crate) type Ring = Box<dyn Fn() + Send + Sync>;

/// The bells of the nodes that this one can tell, itself among them.
#[derive(Default)]
pub(crate) struct Bells(RwLock<Vec<(Askers, Ring)>>);

impl Bells {
    /// Adds a bell of a node. Those of one node are rung in the order in which they were added.
    pub(crate) fn add(&self, node: NodeId, ring: Ring) {
        self.0.write().push((asker(node), ring));
    }

    /// Tells those who asked. Costs nothing if nobody did.
    pub(crate) fn tell(&self, askers: Askers) {
        if askers != 0 {
            self.0.read().iter().filter(|(asker, _)| asker & askers != 0).for_each(|(_, ring)| ring());
        }
    }
}

impl fmt::Debug for Bells {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Bells({})", self.0.read().len())
    }
}

/// A node as an asker. Every 64th node is the same one; where that matters, all of them are told.
pub(crate) fn asker(node: NodeId) -> Askers {
    1 << (node.0 % Askers::BITS)
}
