//! Shape of a simulated job: how large it is, what is left to its seed, and what is watched and kept.

use crate::pe::costs::Costs;
use chare_lrts::simulated::{Chances, Network};

/// See the file's head.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub(super) nodes: u32,
    /// Of each node.
    pub(super) pes: u32,
    pub(super) hosts: u32,
    pub(super) seed: u64,
    /// The model of the network, if the seed does not decide how long frames are on their way.
    pub(super) network: Option<Network>,
    /// What entries cost, if they do.
    pub(super) costs: Option<Costs>,
    /// Whether events are kept.
    pub(super) is_recorded: bool,
    /// Whether the oracles watch, and nodes are looked at when `main` is over.
    pub(super) is_audited: bool,
    /// What the seed decides.
    pub(super) chances: Chances,
}
