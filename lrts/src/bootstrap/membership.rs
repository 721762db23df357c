//! Membership: a node's place in the job, as every bootstrap keeps it, and the key that proves it.

#![expect(clippy::disallowed_methods, reason = "nobody outside may guess the key, whatever drives the job")]

use super::listening::{Listening, Ports};
use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::fd::OwnedFd;
use std::net::IpAddr;

/// Proves that a peer belongs to the job. Made by the process that starts the job, passed over inherited descriptors.
#[derive(Clone)]
pub struct JobKey(pub [u8; 32]);

impl JobKey {
    /// A fresh key.
    pub fn random() -> Self {
        Self(rand::random())
    }
}

impl std::fmt::Debug for JobKey {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("JobKey(secret)")
    }
}

/// A node's place in the job, its neighbours, and where it listens.
#[derive(Debug)]
pub struct Membership {
    pub(super) node: NodeId,
    pub(super) nodes: u32,
    pub(super) key: JobKey,
    /// In the order of their numbers.
    pub(super) neighbours: Vec<(NodeId, OwnedFd)>,
    pub(super) host_address: Option<IpAddr>,
    pub(super) ports: Option<Ports>,
}

impl Membership {
    /// The place of `node` among so many, with a private socket to each other node of its host. It listens nowhere yet.
    pub fn new(node: NodeId, nodes: u32, key: JobKey, neighbours: Vec<(NodeId, OwnedFd)>) -> Self {
        Self { node, nodes, key, neighbours, host_address: None, ports: None }
    }

    pub(super) fn listen(&mut self, listening: &Listening, has_other_hosts: bool) -> Result<(), LrtsError> {
        self.host_address = listening.address(has_other_hosts)?;
        self.ports = listening.ports;
        Ok(())
    }
}
