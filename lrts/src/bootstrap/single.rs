//! Single node: a job of one process, with nobody to find.

use super::{Bootstrap, JobKey};
use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::fd::OwnedFd;

/// The bootstrap of a process that was started by itself.
#[derive(Debug)]
pub struct Single {
    key: JobKey,
}

impl Single {
    /// A job of this process alone.
    pub fn new() -> Self {
        Self { key: JobKey::random() }
    }
}

impl Default for Single {
    fn default() -> Self {
        Self::new()
    }
}

impl Bootstrap for Single {
    fn node(&self) -> NodeId {
        NodeId(0)
    }

    fn nodes(&self) -> u32 {
        1
    }

    fn key(&self) -> &JobKey {
        &self.key
    }

    fn neighbours(&self) -> Vec<NodeId> {
        Vec::new()
    }

    fn take_neighbours(&mut self) -> Vec<(NodeId, OwnedFd)> {
        Vec::new()
    }

    fn host_address(&self) -> Option<std::net::IpAddr> {
        None
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        Ok(vec![value])
    }
}
