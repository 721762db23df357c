//! Choice of a path for a get or put, and what happens when that path stops working.

use super::Reach;
use super::copying::mode_of;
use super::route::{Carrier, Peer};
use super::traffic::Count;
use super::transfer::{Tried, copy_within, is_native, post_on};
use crate::cma::Cma;
use crate::engine::CopyPath;
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Posted};
use crate::operation::Operation;
use crate::region::RegionKey;
use crate::shm::Shm;
use crate::wrappers::Wrapped;
use std::sync::atomic::{AtomicBool, Ordering};

impl Reach {
    /// Sends a transfer down the best path that works.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn transfer(&self, mut operation: Operation) -> Result<Posted, Operation> {
        let (node, len) = (operation.key.node, operation.len);
        if self.closing.load(Ordering::Acquire) {
            return Err(operation);
        }
        if node == self.regions.node() && !operation.local.is_of_device() {
            return count(
                &self.peers[node.index()].traffic.copied,
                len,
                self.copy_in_this_process(operation),
            );
        }
        if operation.local.is_of_device() {
            return self.transfer_of_device(operation);
        }
        let Some(peer) = self.peers.get(node.index()) else {
            // No backend knows the node: any of them says so, and without any, so do the regions.
            return copy_within(operation, &self.regions);
        };
        if let Some(shm) = self.mapper(peer, &operation.key) {
            match self.attempt_copy(shm, operation, CopyPath::Mapping)? {
                Tried::Works(posted) => return count(&peer.traffic.copied, len, Ok(posted)),
                Tried::Fails(back, cause) => {
                    operation = back;
                    self.give_up(peer, &peer.mapping, &cause);
                }
            }
        }
        if let Some(cma) = self.kernel_copier(peer) {
            match self.attempt_copy(cma, operation, CopyPath::Kernel)? {
                Tried::Works(posted) => return count(&peer.traffic.kernel_copied, len, Ok(posted)),
                Tried::Fails(back, cause) => {
                    operation = back;
                    self.give_up(peer, &peer.kernel_copy, &cause);
                }
            }
        }
        if let Some(direct) = self.direct(peer, &operation) {
            match self.under_way.attempt(direct, operation)? {
                Tried::Works(posted) => return count(&peer.traffic.one_sided, len, Ok(posted)),
                Tried::Fails(back, cause) => {
                    operation = back;
                    self.give_up(peer, &peer.direct, &cause);
                }
            }
        }
        match self.carrier(node) {
            Some(carrier) if peer.messages == Carrier::Fabric => {
                count(&peer.traffic.emulated, len, self.under_way.carry(carrier, operation))
            }
            Some(carrier) => count(&peer.traffic.emulated, len, post_on(carrier, operation)),
            None => copy_within(operation, &self.regions),
        }
    }

    /// Sends a transfer with memory of a device at this end down the one path that may reach it; what that path refuses is over.
    ///
    /// # Errors
    /// As for `transfer`.
    fn transfer_of_device(&self, operation: Operation) -> Result<Posted, Operation> {
        let (node, len) = (operation.key.node, operation.len);
        match (self.peers.get(node.index()), self.device_path(node)) {
            (Some(peer), Some(path)) => {
                count(&peer.traffic.one_sided, len, self.under_way.carry(path, operation))
            }
            _ => Ok(Posted::Done(operation.end(Err(TransferError::DeviceMemory(node))))),
        }
    }

    /// One-sided access to memory of devices of a peer, if it has been working so far.
    pub(super) fn device_path(&self, node: NodeId) -> Option<&dyn Lrts> {
        let peer = self.peers.get(node.index()).filter(|peer| peer.direct.load(Ordering::Relaxed))?;
        let fabric = self.fabric.as_ref().filter(|_| peer.messages == Carrier::Fabric)?;
        Some(fabric.direct()).filter(|direct| direct.capabilities().device)
    }

    /// The mapping backend, if it reaches a region of this peer.
    pub(super) fn mapper(&self, peer: &Peer, key: &RegionKey) -> Option<&Wrapped<Shm>> {
        let shm = self.shm.as_ref().filter(|_| peer.mapping.load(Ordering::Relaxed))?.inner();
        shm.bare().reaches(key).then_some(shm)
    }

    /// CMA, if it reaches this peer.
    pub(super) fn kernel_copier(&self, peer: &Peer) -> Option<&Wrapped<Cma>> {
        self.cma.as_ref().filter(|_| peer.kernel_copy.load(Ordering::Relaxed))
    }

    /// One-sided access, if it serves this transfer.
    fn direct(&self, peer: &Peer, operation: &Operation) -> Option<&dyn Lrts> {
        let fabric = self.fabric.as_ref().filter(|_| peer.direct.load(Ordering::Relaxed))?;
        let serves =
            is_native(fabric.direct(), mode_of(operation)) && operation.len >= fabric.direct_bytes_min();
        serves.then(|| fabric.direct())
    }

    /// Notes that a path to a peer does not work, and warns of it once.
    pub(super) fn give_up(&self, peer: &Peer, works: &AtomicBool, cause: &TransferError) {
        if works.swap(false, Ordering::Relaxed) {
            let instead = match self.kernel_copier(peer) {
                Some(_) => "the kernel copies memory from here on",
                None => "memory goes by messages from here on",
            };
            self.warn(format!("{cause}; {instead}, which is slower"));
        }
    }
}

/// Counts a transfer unless it came to nothing at once.
pub(super) fn count(
    count: &Count,
    len: usize,
    posted: Result<Posted, Operation>,
) -> Result<Posted, Operation> {
    let failed = |posted: &Posted| matches!(posted, Posted::Done(Completion { result: Err(_), .. }));
    if posted.as_ref().is_ok_and(|posted| !failed(posted)) {
        count.add(len);
    }
    posted
}
