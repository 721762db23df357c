//! Node ids: the one name that this crate gives to anybody.

use serde::{Deserialize, Serialize};
use std::fmt;

/// One process of a job (a *logical node*), counted from zero over the whole job.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

impl NodeId {
    /// The node's position in tables that hold one entry per node.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl From<u64> for NodeId {
    /// The node with this number. No job has as many nodes as a number takes that does not fit: what is sent there fails and says so.
    fn from(number: u64) -> Self {
        Self(u32::try_from(number).unwrap_or(u32::MAX))
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "node {}", self.0)
    }
}
