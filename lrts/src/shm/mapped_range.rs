#![expect(unsafe_code, reason = "copies to and from arenas that neighbours map too")]
//! Mapped range: a claimed range of a neighbour's region in our mapping of its arena, read, written or lent.
//!
//! The claim keeps correct neighbours away while bytes are copied or lent. The mapping stays until its last
//! user is gone. Copies tolerate overlap: a wrong board may name one range twice.

use crate::error::TransferError;
use crate::host::{PeerClaim, PeerRow};
use crate::lrts::{Get, Put};
use crate::memory::{Memory, Share};
use crate::region::{ClaimedRange, Divided, TakePieces};
use std::sync::Arc;

/// Fills a get's memory.
///
/// # Errors
/// [`TransferError::Refused`], when the range lies in no arena that this process could map.
pub(super) fn read(claim: &PeerClaim, get: &Get) -> Result<(), TransferError> {
    let range = locate(claim, get.offset, get.len)?.ok_or_else(|| not_shared(claim))?;
    // SAFETY: the range holds `len` mapped bytes; `into` is held exclusively and has room for
    // them (the caller compared). Both are raw addresses.
    unsafe { std::ptr::copy(range.address.cast_const(), get.into.address(), get.len) };
    Ok(())
}

/// Writes a put's memory.
///
/// # Errors
/// As for `read`.
pub(super) fn write(claim: &PeerClaim, put: &Put) -> Result<(), TransferError> {
    let range = locate(claim, put.offset, put.from.len())?.ok_or_else(|| not_shared(claim))?;
    // SAFETY: the range holds as many mapped bytes as `from`, which is readable; under the write
    // claim it is ours alone. Both are raw addresses.
    unsafe { std::ptr::copy(put.from.address(), range.address, put.from.len()) };
    Ok(())
}

/// Lends the range in place; the claim is given back when the last clone is dropped. `None` for memory that is
/// not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn lend(claim: PeerClaim, offset: u64, len: usize) -> Result<Option<Memory>, TransferError> {
    let Some(range) = locate(&claim, offset, len)? else { return Ok(None) };
    // SAFETY: the owner holds the mapping and the read claim: while it lives, the bytes stay mapped and
    // no node of this job writes them. They are initialised: shared memory starts as zero.
    Ok(Some(unsafe { Memory::lent(range.address, len, None, Box::new((range.row, claim))) }))
}

/// Keeps the range, under its claim, for copies in pieces; `None` for memory that is not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn keep(claim: PeerClaim, offset: u64, len: usize) -> Result<Option<ClaimedRange>, TransferError> {
    let range = locate(&claim, offset, len)?;
    // The claim goes before the mapping.
    Ok(range.map(|range| ClaimedRange::here(range.address, Box::new((claim, range.row)))))
}

/// Keeps all of the region, under its claim for writing, to copy pieces there that its owner does not; `None` for memory that is not shared.
///
/// # Errors
/// As for `read`.
pub(super) fn divide(claim: PeerClaim, len: usize) -> Result<Option<Divided>, TransferError> {
    let range = locate(&claim, 0, len)?;
    Ok(range
        .map(|MappedRange { row, address }| Divided::new(address, len, HelpersPieces { claim, _row: row })))
}

/// The end of a neighbour that helps. The claim goes before the mapping.
struct HelpersPieces {
    claim: PeerClaim,
    _row: Arc<PeerRow>,
}

impl TakePieces for HelpersPieces {
    fn take(&self) -> Option<u32> {
        self.claim.division()?.take_back()
    }

    fn is_over(&self) -> bool {
        self.claim.division().is_none_or(|division| division.is_over())
    }
}

struct MappedRange {
    row: Arc<PeerRow>,
    address: *mut u8,
}

/// Where `len` bytes of the claimed region, from `offset` on, are mapped here.
fn locate(claim: &PeerClaim, offset: u64, len: usize) -> Result<Option<MappedRange>, TransferError> {
    let Some(share) = claim.notice().share else { return Ok(None) };
    let start = share.offset.saturating_add(offset);
    let (row, address) = claim.neighbour().locate(Share { offset: start, ..share }, len)?;
    Ok(Some(MappedRange { row, address }))
}

fn not_shared(claim: &PeerClaim) -> TransferError {
    let cause = "the region does not lie in shareable memory".to_owned();
    TransferError::Refused { node: claim.neighbour().node(), cause }
}
