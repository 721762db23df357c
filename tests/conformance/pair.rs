//! A job of two processes whose bootstrap is one pair of sockets: for checks that kill one of them.

use chare_lrts::bootstrap::{Bootstrap, JobKey};
use chare_lrts::{LrtsError, NodeId};
use rustix::fd::OwnedFd;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// One side of the pair.
pub(crate) struct Pair {
    node: NodeId,
    key: JobKey,
    other: UnixStream,
    neighbour: Option<OwnedFd>,
}

impl Pair {
    /// Node 0: makes the key and tells it to the other.
    pub(crate) fn first(mut other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        let key = JobKey::random();
        other.write_all(&key.0)?;
        Self::new(NodeId(0), key, other, neighbour)
    }

    /// Node 1.
    pub(crate) fn second(mut other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        let mut key = [0; 32];
        other.read_exact(&mut key)?;
        Self::new(NodeId(1), JobKey(key), other, neighbour)
    }

    fn new(node: NodeId, key: JobKey, other: UnixStream, neighbour: OwnedFd) -> std::io::Result<Self> {
        other.set_read_timeout(Some(crate::group::PATIENCE))?;
        Ok(Self { node, key, other, neighbour: Some(neighbour) })
    }

    fn exchange(&mut self, mine: &[u8]) -> std::io::Result<Vec<u8>> {
        self.other.write_all(&(mine.len() as u32).to_le_bytes())?;
        self.other.write_all(mine)?;
        let mut len = [0; 4];
        self.other.read_exact(&mut len)?;
        let mut theirs = vec![0; u32::from_le_bytes(len).min(1_024) as usize];
        self.other.read_exact(&mut theirs)?;
        Ok(theirs)
    }
}

impl Bootstrap for Pair {
    fn node(&self) -> NodeId {
        self.node
    }

    fn nodes(&self) -> u32 {
        2
    }

    fn key(&self) -> &JobKey {
        &self.key
    }

    fn neighbours(&self) -> Vec<NodeId> {
        vec![NodeId(1 - self.node.0)]
    }

    fn take_neighbours(&mut self) -> Vec<(NodeId, OwnedFd)> {
        self.neighbour.take().map(|socket| (NodeId(1 - self.node.0), socket)).into_iter().collect()
    }

    fn host_address(&self) -> Option<std::net::IpAddr> {
        None
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let theirs = self.exchange(&value).map_err(|error| LrtsError::Bootstrap(error.to_string()))?;
        Ok(if self.node.0 == 0 { vec![value, theirs] } else { vec![theirs, value] })
    }
}
