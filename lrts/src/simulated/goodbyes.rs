//! Goodbyes of the nodes of a simulated network: who has heard those of all others.
//!
//! A node says goodbye to all at once. Those with which it has exchanged frames hear it each by itself, behind all that it has sent them; so do
//! all where there are few nodes. Of the many with which a node of a large job has exchanged nothing, none has anything to do about it: one
//! arrival tells of them all, and they are counted.

use crate::ids::NodeId;

/// Nodes of a job in which each goodbye is an arrival of its own, whoever has exchanged what.
const FEW: usize = 64;

/// The goodbyes that nobody hears by itself.
pub(super) struct Quiet {
    /// Nodes whose goodbye has arrived at all that do not hear it by themselves.
    left: u32,
    /// By node, of how many of those it is one that hears it by itself.
    told: Vec<u32>,
    /// Nodes that were lost before they said goodbye: everybody hears of that by itself.
    lost: u32,
}

impl Quiet {
    pub(super) fn new(nodes: u32) -> Self {
        Self { left: 0, told: vec![0; nodes as usize], lost: 0 }
    }

    /// Whether a goodbye may be quiet at all.
    pub(super) fn is_possible(&self) -> bool {
        self.told.len() > FEW
    }

    /// The goodbye of a node has arrived, quietly but for those that it `told`. Whether now all nodes have left: some may be done then.
    pub(super) fn arrive(&mut self, source: NodeId, told: &[NodeId]) -> bool {
        self.left += 1;
        for node in told.iter().chain([&source]) {
            self.told[node.index()] += 1;
        }
        self.have_all_left()
    }

    /// A node was lost before it said goodbye. Whether now all nodes have left.
    pub(super) fn lose(&mut self) -> bool {
        self.lost += 1;
        self.is_possible() && self.have_all_left()
    }

    fn have_all_left(&self) -> bool {
        (self.left + self.lost) as usize == self.told.len()
    }

    /// Of how many goodbyes a node has heard quietly.
    pub(super) fn heard(&self, node: NodeId) -> u32 {
        self.left - self.told[node.index()]
    }
}
