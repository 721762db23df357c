//! Copying: which transfers are carried out in pieces, by whom, and how they end.
//!
//! A get or put whose path is a copy is over when it is posted if it is short. A long one becomes a job of the copy engines: it ends in
//! [`Lrts::progress`] or in [`Reach::help`].

use super::Reach;
use super::route::Peer;
use super::traffic::Count;
use super::transfer::{Stub, Tried, copy_within, post_on};
use crate::engine::{CopyPath, Ended, PiecewiseCopy, Whose};
use crate::error::TransferError;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Posted, Sink, Token};
use crate::memcpy::copy;
use crate::memory::MemoryMut;
use crate::operation::{LocalMemory, Operation};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, Divided, RegionKey};
use std::sync::Arc;
use std::sync::atomic::{Ordering, fence};

impl Reach {
    /// Whether a copy of so many bytes takes so long that nobody should wait for it: it goes on in pieces, by whoever has time. One load, or
    /// three atomic operations where it depends on whether somebody helps.
    #[inline]
    pub fn is_long_copy(&self, bytes: usize) -> bool {
        self.copies.is_long(bytes)
    }

    /// Whether a transfer goes on in pieces. One whose memory at this end has no room for it fails at once.
    fn is_long(&self, operation: &Operation) -> bool {
        let has_room = match &operation.local {
            LocalMemory::Get(into) => operation.len <= into.len(),
            LocalMemory::Put(_) => true,
        };
        has_room && self.is_long_copy(operation.len)
    }

    /// Carries out a transfer with this node itself.
    ///
    /// # Errors
    /// The transfer, while another claim is in its way.
    pub(super) fn copy_in_this_process(&self, operation: Operation) -> Result<Posted, Operation> {
        if !self.is_long(&operation) {
            return copy_within(operation, &self.regions);
        }
        let Operation { key, offset, len, .. } = &operation;
        let claimed = copy::claim(&self.regions, key, *offset, *len, mode_of(&operation));
        match self.post_copy(operation, claimed, CopyPath::Within)? {
            Tried::Works(posted) => Ok(posted),
            Tried::Fails(operation, cause) => Ok(Posted::Done(operation.end(Err(cause)))),
        }
    }

    /// Posts a transfer on a path that copies, or does not work.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn attempt_copy(
        &self,
        by: &dyn Lrts,
        operation: Operation,
        path: CopyPath,
    ) -> Result<Tried<Posted>, Operation> {
        if self.is_long(&operation) {
            let Operation { key, offset, len, .. } = &operation;
            match by.claim(key, *offset, *len, mode_of(&operation)).transpose() {
                None => {}
                Some(claimed) => return self.post_copy(operation, claimed, path),
            }
        }
        let stub = Stub::of(&operation);
        Ok(match post_on(by, operation)? {
            Posted::Done(completion) => stub.judge(completion).map(Posted::Done),
            Posted::Pending => Tried::Works(Posted::Pending),
        })
    }

    /// Makes a job of a transfer whose range is claimed.
    ///
    /// # Errors
    /// As of `attempt_copy`.
    fn post_copy(
        &self,
        operation: Operation,
        claimed: Result<ClaimedRange, ClaimError>,
        path: CopyPath,
    ) -> Result<Tried<Posted>, Operation> {
        match claimed {
            Ok(range) => {
                self.copies.post(operation, range, path);
                Ok(Tried::Works(Posted::Pending))
            }
            Err(ClaimError::Busy) => Err(operation),
            Err(ClaimError::Failed(cause @ TransferError::Refused { .. })) => {
                Ok(Tried::Fails(operation, cause))
            }
            Err(ClaimError::Failed(cause)) => Ok(Tried::Works(Posted::Done(operation.end(Err(cause))))),
        }
    }

    /// Claims a range of a peer's region that the kernel copies, for a caller that wants parts of it, and says which by
    /// [vectors](crate::Vector). `None` where another path is meant, and when the claim cannot be had: a get or put of the range goes its
    /// way then, and says what is wrong.
    pub fn claim_foreign(
        &self,
        key: &RegionKey,
        (offset, len): (u64, usize),
        mode: ClaimMode,
    ) -> Option<ClaimedRange> {
        let is_other = key.node != self.regions.node() && !self.closing.load(Ordering::Acquire);
        let peer = self.peers.get(key.node).filter(|_| is_other)?;
        let cma = self.kernel_copier(peer).filter(|_| self.mapper(peer, key).is_none())?;
        cma.claim(key, offset, len, mode).ok().flatten()
    }

    /// Claims a region of a peer that is mapped here, to copy pieces there that its owner does not take. `None` where it is not, and when
    /// the claim cannot be had: the owner does without, then.
    pub fn help_to_fill(&self, key: &RegionKey) -> Option<Divided> {
        let peer = self.peers.get(key.node).filter(|_| !self.closing.load(Ordering::Acquire))?;
        self.mapper(peer, key)?.bare().divide(key).ok().flatten()
    }

    /// Claims all of a region for writing, of this node or of a peer whose memory is mapped here, and gives its memory, to be filled at once:
    /// nobody else touches it before the memory is dropped. `None` where it cannot be reached so, and when the claim cannot be had.
    pub fn fill(&self, key: &RegionKey) -> Option<MemoryMut> {
        let peer = self.peers.get(key.node).filter(|_| !self.closing.load(Ordering::Acquire))?;
        let filled = if key.node == self.regions.node() {
            copy::fill(&self.regions, key).ok()
        } else {
            self.mapper(peer, key)?.bare().fill(key).ok().flatten()
        };
        if let Some(memory) = &filled {
            peer.traffic.copied.add(memory.len());
        }
        filled
    }

    /// Counts what was copied out of or into a range that [`claim_foreign`](Self::claim_foreign) gave.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn count_foreign(&self, peer: NodeId, bytes: usize) {
        self.peers[peer].traffic.kernel_copied.add(bytes);
    }

    /// Carries out a copy that comes in pieces as a long one, by whoever has time. Its completion comes from
    /// [`Lrts::progress`] or [`Reach::help`], when nobody here holds `pieces` any more. Costs as a long get does.
    ///
    /// # Panics
    /// If there is no piece.
    pub fn copy_pieces(&self, pieces: Arc<dyn PiecewiseCopy>, token: Token) {
        assert!(!pieces.is_empty(), "a copy without pieces is over");
        self.copies.post_pieces(pieces, self.regions.node(), token);
    }

    /// Whether a long copy waits for a thread that goes on with it, or that asks an engine whether it is done.
    #[inline]
    pub fn has_copies(&self) -> bool {
        !self.copies.may_sleep()
    }

    /// Whether pieces wait of a long copy that this thread has posted.
    #[inline]
    pub fn has_own_copies(&self) -> bool {
        self.copies.has_own()
    }

    /// Copies a piece of a long copy, whoever has posted it, and tells `sink` of those that have ended. For a thread that has nothing
    /// else to do. Returns whether there was any to do. As long as a copy of 64 KiB; one load if there is nothing.
    pub fn help(&self, sink: &mut dyn Sink) -> bool {
        self.go_on(Whose::All, sink)
    }

    /// Goes on with the long copies that this thread has posted, and with those that stand still: a part of
    /// [`Lrts::progress`], for a thread that leaves the rest of the network alone.
    #[inline]
    pub fn go_on_copying(&self, sink: &mut dyn Sink) -> bool {
        self.go_on(Whose::Own, sink)
    }

    /// The same for a thread that has something to do first, as far as it cannot wait.
    #[inline]
    pub(super) fn go_on_if_forsaken(&self, sink: &mut dyn Sink) -> bool {
        self.go_on(Whose::Forsaken, sink)
    }

    #[inline]
    fn go_on(&self, whose: Whose, sink: &mut dyn Sink) -> bool {
        let tried = self.try_again(sink);
        !self.copies.is_idle() && self.copy_on(whose, sink) || tried
    }

    #[inline(never)]
    fn copy_on(&self, whose: Whose, sink: &mut dyn Sink) -> bool {
        // Who posted them may be gone.
        let whose = if self.closing.load(Ordering::Acquire) { Whose::All } else { whose };
        let mut happened = self.copies.carry_on(whose);
        while let Some(ended) = self.copies.pop_ended() {
            if !self.end_copy(ended, sink) {
                break;
            }
            happened = true;
        }
        self.take_leave();
        happened
    }

    /// Says goodbye once it is wanted and no copy is under way: a peer that has heard it may end, and its memory with it.
    pub(super) fn take_leave(&self) {
        // One of the thread that shuts down and the one that ends the last copy sees what the other has stored.
        fence(Ordering::SeqCst);
        if self.closing.load(Ordering::Relaxed)
            && self.copies.is_idle()
            && !self.has_left.swap(true, Ordering::AcqRel)
        {
            self.carriers().for_each(|carrier| carrier.shutdown());
        }
    }

    /// Tells of a copy that is over, or lets the next path have its transfer. Returns `false` when there was no room for that now.
    fn end_copy(&self, ended: Ended, sink: &mut dyn Sink) -> bool {
        let (operation, path, result) = match ended {
            Ended::Transfer { operation, path, result } => (operation, path, result),
            Ended::Pieces { token, result } => {
                sink.completion(Completion { token, result, memory: None });
                return true;
            }
        };
        let Err(cause) = result else {
            let len = operation.len;
            sink.completion(operation.end(Ok(len)));
            return true;
        };
        let peer = &self.peers[operation.key.node];
        count_of(peer, path).take_back(operation.len);
        let is_worth_another_path =
            path == CopyPath::Kernel && matches!(cause, TransferError::Refused { .. });
        if !is_worth_another_path || self.closing.load(Ordering::Acquire) {
            sink.completion(operation.end(Err(cause)));
            return true;
        }
        self.give_up(peer, &peer.kernel_copy, &cause);
        let len = operation.len;
        match self.transfer(operation) {
            Ok(Posted::Done(completion)) => sink.completion(completion),
            Ok(Posted::Pending) => {}
            Err(operation) => {
                count_of(peer, path).add(len);
                self.copies.put_back(Ended::Transfer { operation, path, result: Err(cause) });
                return false;
            }
        }
        true
    }
}

pub(super) fn mode_of(operation: &Operation) -> ClaimMode {
    match &operation.local {
        LocalMemory::Get(_) => ClaimMode::Read,
        LocalMemory::Put(_) => ClaimMode::Write,
    }
}

/// Where a copy by this path was counted.
fn count_of(peer: &Peer, path: CopyPath) -> &Count {
    match path {
        CopyPath::Within | CopyPath::Mapping => &peer.traffic.copied,
        CopyPath::Kernel => &peer.traffic.kernel_copied,
    }
}
