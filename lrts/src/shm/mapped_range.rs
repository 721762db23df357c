//! Mapped range: a claimed range of a neighbour's region in our mapping of its arena, read, written or lent.
//!
//! The claim keeps correct neighbours away while bytes are copied or lent, and, by its handle of the neighbour, the bytes mapped. Who helps
//! a neighbour to copy claims anew for what it takes.
//! Copies tolerate overlap: a wrong board may name one range twice.

#![expect(unsafe_code, reason = "copies to and from arenas that neighbours map too")]

use crate::error::TransferError;
use crate::host::{HostPeer, PeerClaim};
use crate::lrts::{Entering, Get, Put};
use crate::memory::{Memory, MemoryMut, Share};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimedRange, Divided, RegionKey, TakePieces};
use parking_lot::Mutex;
use std::sync::Arc;

/// Fills a get's memory.
///
/// # Errors
/// [`TransferError::Refused`], when the range lies in no arena that this process could map.
pub(super) fn read(claim: &PeerClaim, get: &Get) -> Result<(), TransferError> {
    let address = locate(claim, get.offset, get.len, Entering::AtOnce)?.ok_or_else(|| not_shared(claim))?;
    // SAFETY: the range holds `len` mapped bytes; `into` is held exclusively and has room for
    // them (the caller compared). Both are raw addresses.
    unsafe { std::ptr::copy(address.cast_const(), get.into.address(), get.len) };
    Ok(())
}

/// Writes a put's memory.
///
/// # Errors
/// As for `read`.
pub(super) fn write(claim: &PeerClaim, put: &Put) -> Result<(), TransferError> {
    let address =
        locate(claim, put.offset, put.from.len(), Entering::AtOnce)?.ok_or_else(|| not_shared(claim))?;
    // SAFETY: the range holds as many mapped bytes as `from`, which is readable; under the write
    // claim it is ours alone. Both are raw addresses.
    unsafe { std::ptr::copy(put.from.address(), address, put.from.len()) };
    Ok(())
}

/// Lends the range in place; the claim is given back when the last clone is dropped. `None` for memory that is
/// not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn lend(
    claim: PeerClaim,
    offset: u64,
    len: usize,
    entering: Entering,
) -> Result<Option<Memory>, TransferError> {
    let Some(address) = locate(&claim, offset, len, entering)? else { return Ok(None) };
    // SAFETY: the owner holds the neighbour and the read claim: while it lives, the bytes stay mapped and
    // no node of this job writes them. They are initialised: shared memory starts as zero.
    Ok(Some(unsafe { Memory::lent(address, len, None, Box::new(claim)) }))
}

/// Keeps the range, under its claim, for copies in pieces; `None` for memory that is not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn keep(claim: PeerClaim, offset: u64, len: usize) -> Result<Option<ClaimedRange>, TransferError> {
    let address = locate(&claim, offset, len, Entering::AtOnce)?;
    Ok(address.map(|address| ClaimedRange::here(address, Box::new(claim))))
}

/// All of a claimed region, to copy pieces there that its owner does not; `None` for memory that is not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn divide(claim: &PeerClaim, key: RegionKey) -> Result<Option<Divided>, TransferError> {
    let len = key.len as usize;
    let address = locate(claim, 0, len, Entering::AtOnce)?;
    let pieces = HelpersPieces {
        neighbour: Arc::clone(claim.neighbour()),
        key,
        writing: Mutex::new(Writing::default()),
    };
    Ok(address.map(|address| Divided::new(address, len, pieces)))
}

/// Gives all of the region, under its claim for writing, to be filled; `None` for memory that is not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn fill(claim: PeerClaim, len: usize) -> Result<Option<MemoryMut>, TransferError> {
    let address = locate(&claim, 0, len, Entering::AtOnce)?;
    // SAFETY: the owner holds the neighbour and the write claim: while it lives, the bytes stay mapped, and no other node of this job
    // touches them. They are initialised: shared memory starts as zero.
    Ok(address.map(|address| unsafe { MemoryMut::from_raw_parts(address, len, None, Box::new(claim)) }))
}

/// The end of a neighbour that helps.
struct HelpersPieces {
    neighbour: Arc<HostPeer>,
    key: RegionKey,
    writing: Mutex<Writing>,
}

/// What the threads of this node write at a time.
#[derive(Default)]
struct Writing {
    /// Held while pieces are written.
    claim: Option<PeerClaim>,
    /// Pieces that were taken and are not written.
    pieces: usize,
}

impl Writing {
    /// The claim, if nobody needs it any more.
    fn take_idle(&mut self) -> Option<PeerClaim> {
        self.claim.take_if(|_| self.pieces == 0)
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // A piece that could not be written: its owner never takes it for written.
        if self.pieces > 0
            && let Some(claim) = self.claim.take()
        {
            claim.abandon();
        }
    }
}

impl TakePieces for HelpersPieces {
    /// Without a claim there is nothing to take: the region is over, or the owner's own business is in the way, which copies the rest.
    fn take(&self) -> Option<u32> {
        let mut writing = self.writing.lock();
        if writing.claim.is_none() {
            writing.claim = self.neighbour.claim(&self.key, 0, self.key.len, ClaimMode::Write).ok();
        }
        let is_claimed = writing.claim.is_some();
        let piece = is_claimed.then(|| self.neighbour.division(&self.key)?.take_back()).flatten();
        writing.pieces += usize::from(piece.is_some());
        let idle = writing.take_idle();
        drop(writing);
        drop(idle);
        piece
    }

    fn note_written(&self) {
        let mut writing = self.writing.lock();
        writing.pieces -= 1;
        let idle = writing.take_idle();
        drop(writing);
        // Not under the lock: the owner may have to be woken.
        drop(idle);
    }

    fn is_over(&self) -> bool {
        self.neighbour.division(&self.key).is_none_or(|division| division.is_over())
    }
}

/// Where `len` bytes of the claimed region, from `offset` on, are mapped here.
fn locate(
    claim: &PeerClaim,
    offset: u64,
    len: usize,
    entering: Entering,
) -> Result<Option<*mut u8>, TransferError> {
    let Some(share) = claim.notice().share else { return Ok(None) };
    let start = share.offset.saturating_add(offset);
    claim.neighbour().locate(Share { offset: start, ..share }, len, entering).map(Some)
}

fn not_shared(claim: &PeerClaim) -> TransferError {
    let cause = "the region does not lie in shareable memory".to_owned();
    TransferError::Refused { node: claim.neighbour().node(), cause }
}
