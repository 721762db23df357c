//! Transfers on their paths: each goes where [`paths`](super::paths) says, and on to the next path when that one stops working.

use super::Reach;
use super::copying::mode_of;
use super::paths::{Facts, Path};
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
        let Some(peer) = self.peers.get(node).filter(|_| !operation.local.is_of_device()) else {
            return self.transfer_aside(operation);
        };
        loop {
            let (tried, works) = match self.path_of(peer, &operation) {
                Path::Within => {
                    return count(&peer.traffic.copied, len, self.copy_in_this_process(operation));
                }
                Path::Mapping => {
                    let Some(shm) = self.mapper(peer, &operation.key) else { continue };
                    (
                        self.attempt_copy(shm, operation, CopyPath::Mapping)?,
                        (&peer.mapping, &peer.traffic.copied),
                    )
                }
                Path::Kernel => {
                    let Some(cma) = self.kernel_copier(peer) else { continue };
                    let works = (&peer.kernel_copy, &peer.traffic.kernel_copied);
                    (self.attempt_copy(cma, operation, CopyPath::Kernel)?, works)
                }
                Path::Direct => {
                    let Some(fabric) = &self.fabric else { continue };
                    let works = (&peer.direct, &peer.traffic.one_sided);
                    (self.under_way.attempt(fabric.direct(), operation)?, works)
                }
                Path::Messages => return self.transfer_by_messages(peer, operation),
            };
            let (works, traffic) = works;
            match tried {
                Tried::Works(posted) => return count(traffic, len, Ok(posted)),
                Tried::Fails(back, cause) => {
                    operation = back;
                    self.give_up(peer, works, &cause);
                }
            }
        }
    }

    /// The path that a transfer takes, of those that have not been given up.
    fn path_of(&self, peer: &Peer, operation: &Operation) -> Path {
        let facts = Facts {
            is_here: operation.key.node == self.regions.node(),
            is_mapped: || self.mapper(peer, &operation.key).is_some(),
            is_copied: || self.kernel_copier(peer).is_some(),
            direct_bytes_min: || self.direct_bytes_min(peer, operation),
            bytes: operation.len,
        };
        facts.path()
    }

    fn transfer_by_messages(&self, peer: &Peer, operation: Operation) -> Result<Posted, Operation> {
        let len = operation.len;
        match self.carrier(operation.key.node) {
            Some(carrier) if peer.messages == Carrier::Fabric => {
                count(&peer.traffic.emulated, len, self.under_way.carry(carrier, operation))
            }
            Some(carrier) => count(&peer.traffic.emulated, len, post_on(carrier, operation)),
            None => copy_within(operation, &self.regions),
        }
    }

    /// Sends a transfer that one path at most serves: with memory of a device at this end, or of a node that the job has not.
    ///
    /// # Errors
    /// As for `transfer`.
    fn transfer_aside(&self, operation: Operation) -> Result<Posted, Operation> {
        if operation.local.is_of_device() {
            return self.transfer_of_device(operation);
        }
        // No backend knows the node: any of them says so, and without any, so do the regions.
        copy_within(operation, &self.regions)
    }

    /// Sends a transfer with memory of a device at this end down the one path that may reach it; what that path refuses is over.
    ///
    /// # Errors
    /// As for `transfer`.
    fn transfer_of_device(&self, operation: Operation) -> Result<Posted, Operation> {
        let (node, len) = (operation.key.node, operation.len);
        match (self.peers.get(node), self.device_path(node)) {
            (Some(peer), Some(path)) => {
                count(&peer.traffic.one_sided, len, self.under_way.carry(path, operation))
            }
            _ => Ok(Posted::Done(operation.end(Err(TransferError::DeviceMemory(node))))),
        }
    }

    /// One-sided access to memory of devices of a peer, if it has been working so far.
    pub(super) fn device_path(&self, node: NodeId) -> Option<&dyn Lrts> {
        let peer = self.peers.get(node).filter(|peer| peer.direct.load(Ordering::Relaxed))?;
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

    /// The least bytes of a transfer like this one that the network carries out by itself, if it does and has been working so far.
    fn direct_bytes_min(&self, peer: &Peer, operation: &Operation) -> Option<usize> {
        let fabric = self.fabric.as_ref().filter(|_| peer.direct.load(Ordering::Relaxed))?;
        is_native(fabric.direct(), mode_of(operation)).then(|| fabric.direct_bytes_min())
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
