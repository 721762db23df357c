//! Runs of a peer's range, which a network with one-sided access moves under one claim. No other path takes them.

use super::Reach;
use super::choose::count;
use super::copying::mode_of;
use super::fabric::Fabric;
use super::paths;
use super::transfer::is_native;
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Lrts, Posted};
use crate::operation::Operation;
use crate::region::claim::ClaimMode;
use crate::runs::Runs;
use std::sync::atomic::Ordering;

impl Reach {
    /// Whether runs of a peer's memory, of so many bytes in all, are read (or written) by the network itself; see [`Lrts::get_runs`].
    pub fn moves_runs(&self, peer: NodeId, mode: ClaimMode, bytes: u64) -> bool {
        let least = self.fabric.as_deref().map(Fabric::direct_bytes_min);
        paths::is_direct(bytes, least) && self.runs_path(peer, mode).is_some()
    }

    fn runs_path(&self, node: NodeId, mode: ClaimMode) -> Option<&dyn Lrts> {
        self.peers.get(node).filter(|peer| peer.direct.load(Ordering::Relaxed))?;
        let direct = self.fabric.as_ref()?.direct();
        (direct.capabilities().runs && is_native(direct, mode)).then_some(direct)
    }

    /// Sends runs to the network; they are refused for good where it does not move them.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn transfer_runs(&self, operation: Operation, runs: &Runs) -> Result<Posted, Operation> {
        let node = operation.key.node;
        if self.closing.load(Ordering::Acquire) {
            return Err(operation);
        }
        let Some(path) = self.runs_path(node, mode_of(&operation)) else {
            let cause = "no network moves runs of its memory".to_owned();
            return Ok(Posted::Done(operation.end(Err(TransferError::Refused { node, cause }))));
        };
        let traffic = &self.peers[node].traffic;
        count(&traffic.one_sided, runs.bytes(), self.under_way.carry_runs(path, operation, runs))
    }
}
