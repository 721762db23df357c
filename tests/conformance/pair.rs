//! A job of two processes whose bootstrap is one pair of sockets: for checks that kill one of them.

use chare_lrts::bootstrap::{Bootstrap, JobKey, Membership};
use chare_lrts::{LrtsError, NodeId};
use rustix::fd::OwnedFd;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

/// One side of the pair.
pub(crate) struct Pair {
    membership: Membership,
    other: UnixStream,
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
        let neighbours = vec![(NodeId(1 - node.0), neighbour)];
        Ok(Self { membership: Membership::new(node, 2, key, neighbours), other })
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
    fn membership(&self) -> &Membership {
        &self.membership
    }

    fn membership_mut(&mut self) -> &mut Membership {
        &mut self.membership
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let theirs = self.exchange(&value).map_err(|error| LrtsError::Bootstrap(error.to_string()))?;
        Ok(if self.node().0 == 0 { vec![value, theirs] } else { vec![theirs, value] })
    }
}
