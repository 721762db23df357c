//! Transfers between neighbours: the check, the claim and the completion around the copy of every get and put.
//!
//! The copy, in which transfers differ, is given as a function of the claim. It runs under the claim, which is given back
//! before the completion is handed out.

use crate::error::TransferError;
use crate::host::host_peer::PeerClaim;
use crate::host::host_peers::HostPeers;
use crate::ids::NodeId;
use crate::lrts::{Completion, Get, Posted, Put, Refused};
use crate::region::ClaimError;
use crate::region::claim::ClaimMode;

/// Carries out a get; `copy` fills the first `len` bytes of the memory.
///
/// # Errors
/// The operation, while another claim writes the region.
pub(crate) fn get_by(
    host_peers: &HostPeers,
    get: Get,
    copy: impl FnOnce(&PeerClaim, &Get) -> Result<(), TransferError>,
) -> Result<Posted, Refused<Get>> {
    let result = if get.len > get.into.len() {
        Err(TransferError::LocalTooShort { have: get.into.len() as u64, need: get.len as u64 })
    } else {
        match host_peers.claim(&get.key, get.offset, get.len as u64, ClaimMode::Read) {
            Err(ClaimError::Busy) => return Err(Refused(get)),
            Err(ClaimError::Failed(error)) => Err(error),
            Ok(claim) => copy(&claim, &get).map(|()| get.len),
        }
    };
    Ok(Posted::Done(Completion { token: get.token, result, memory: Some(get.into) }))
}

/// Carries out a put; `copy` writes all of its memory.
///
/// # Errors
/// The operation, while another claim touches the region.
pub(crate) fn put_by(
    host_peers: &HostPeers,
    put: Put,
    copy: impl FnOnce(&PeerClaim, &Put) -> Result<(), TransferError>,
) -> Result<Posted, Refused<Put>> {
    let len = put.from.len();
    let result = match host_peers.claim(&put.key, put.offset, len as u64, ClaimMode::Write) {
        Err(ClaimError::Busy) => return Err(Refused(put)),
        Err(ClaimError::Failed(error)) => Err(error),
        Ok(claim) => copy(&claim, &put).map(|()| len),
    };
    Ok(Posted::Done(Completion { token: put.token, result, memory: None }))
}

impl HostPeers {
    /// Claims a range of a neighbour's region.
    ///
    /// # Errors
    /// [`ClaimError`]; nothing is held then.
    pub(crate) fn claim(
        &self,
        key: &crate::region::RegionKey,
        offset: u64,
        len: u64,
        mode: ClaimMode,
    ) -> Result<PeerClaim, ClaimError> {
        let neighbour = self.neighbour(key.node).ok_or_else(|| ClaimError::Failed(not_here(key.node)))?;
        neighbour.claim(key, offset, len, mode)
    }
}

fn not_here(node: NodeId) -> TransferError {
    TransferError::Refused { node, cause: "it is not on this host".to_owned() }
}
