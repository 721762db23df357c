//! Which path a get or put takes, and what happens when that path stops working.

use super::traffic::Count;
use super::transfer::Transfer;
use super::{Peer, Reach};
use crate::cma::Cma;
use crate::error::TransferError;
use crate::lrts::{Completion, Lrts, Posted, Refused};
use crate::region::RegionKey;
use crate::shm::Shm;
use crate::wrappers::Wrapped;
use std::sync::atomic::{AtomicBool, Ordering};

impl Reach {
    /// Sends a transfer down the best path that works.
    pub(super) fn transfer<T: Transfer>(&self, transfer: T) -> Result<Posted, Refused<T>> {
        let (node, len) = (transfer.key().node, transfer.len());
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(transfer));
        }
        if node == self.regions.node() {
            return count(&self.peers[node.index()].traffic.copied, len, transfer.within(&self.regions));
        }
        let Some(peer) = self.peers.get(node.index()) else {
            // No backend knows the node: any of them says so, and without any, so do the regions.
            return transfer.within(&self.regions);
        };
        let mut transfer = transfer;
        if let Some(shm) = self.mapper(peer, transfer.key()) {
            match attempt(shm, transfer)? {
                Attempt::Posted(posted) => return count(&peer.traffic.copied, len, Ok(posted)),
                Attempt::Failed(back, cause) => {
                    transfer = back;
                    self.give_up(&peer.mapping, &cause);
                }
            }
        }
        if let Some(cma) = self.kernel_copier(peer) {
            match attempt(cma, transfer)? {
                Attempt::Posted(posted) => return count(&peer.traffic.kernel_copied, len, Ok(posted)),
                Attempt::Failed(back, cause) => {
                    transfer = back;
                    self.give_up(&peer.kernel_copy, &cause);
                }
            }
        }
        if let Some(direct) = self.direct(peer, &transfer) {
            match attempt(direct, transfer)? {
                Attempt::Posted(posted) => return count(&peer.traffic.one_sided, len, Ok(posted)),
                Attempt::Failed(back, cause) => {
                    transfer = back;
                    self.give_up(&peer.direct, &cause);
                }
            }
        }
        match self.carrier(node) {
            Some(carrier) => count(&peer.traffic.emulated, len, transfer.over(carrier)),
            None => transfer.within(&self.regions),
        }
    }

    /// The mapping backend, if it reaches a region of this peer.
    fn mapper(&self, peer: &Peer, key: &RegionKey) -> Option<&Wrapped<Shm>> {
        let shm = self.shm.as_ref().filter(|_| peer.mapping.load(Ordering::Relaxed))?.inner();
        shm.bare().reaches(key).then_some(shm)
    }

    /// CMA, if it reaches this peer.
    fn kernel_copier(&self, peer: &Peer) -> Option<&Wrapped<Cma>> {
        self.cma.as_ref().filter(|_| peer.kernel_copy.load(Ordering::Relaxed))
    }

    /// One-sided access, if it serves this transfer.
    fn direct<T: Transfer>(&self, peer: &Peer, transfer: &T) -> Option<&dyn Lrts> {
        let fabric = self.fabric.as_ref().filter(|_| peer.direct.load(Ordering::Relaxed))?;
        let serves = transfer.is_offered(fabric.direct()) && transfer.len() >= fabric.direct_bytes_min();
        serves.then(|| fabric.direct())
    }

    /// Notes that a path to a peer does not work, and warns of it once.
    fn give_up(&self, works: &AtomicBool, cause: &TransferError) {
        if works.swap(false, Ordering::Relaxed) {
            self.warn(format!("{cause}; memory goes by messages from here on, which is slower"));
        }
    }
}

/// What came of trying a path that may not work.
enum Attempt<T> {
    Posted(Posted),
    /// The path does not work; the transfer may take another.
    Failed(T, TransferError),
}

fn attempt<T: Transfer>(path: &dyn Lrts, transfer: T) -> Result<Attempt<T>, Refused<T>> {
    let stub = transfer.stub();
    Ok(match transfer.over(path)? {
        Posted::Done(failed @ Completion { result: Err(TransferError::Refused { .. }), .. }) => {
            let cause = failed.result.clone().expect_err("just matched");
            Attempt::Failed(T::again(stub, failed), cause)
        }
        posted => Attempt::Posted(posted),
    })
}

fn count<T>(count: &Count, len: usize, posted: Result<Posted, Refused<T>>) -> Result<Posted, Refused<T>> {
    let failed = |posted: &Posted| matches!(posted, Posted::Done(Completion { result: Err(_), .. }));
    if posted.as_ref().is_ok_and(|posted| !failed(posted)) {
        count.add(len);
    }
    posted
}
