//! Single node: a job of one process, with nobody to find.

use super::{Bootstrap, JobKey, Membership};
use crate::error::LrtsError;
use crate::ids::NodeId;

/// The bootstrap of a process that was started by itself.
#[derive(Debug)]
pub struct Single {
    membership: Membership,
}

impl Single {
    /// A job of this process alone.
    pub fn new() -> Self {
        Self { membership: Membership::new(NodeId(0), 1, JobKey::random(), Vec::new()) }
    }
}

impl Default for Single {
    fn default() -> Self {
        Self::new()
    }
}

impl Bootstrap for Single {
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        Ok(vec![value])
    }
}
