//! Copies inside one process: get, put and view as a claim on the region, then one copy (or none).
//!
//! Code that can reach a node's [`Regions`] can carry out transfers on it at once; `memcpy` does so between the nodes of
//! one process, `reach` and `emulated` for a node's transfers with itself.

#![expect(unsafe_code, reason = "copies between claimed regions and owned memory")]

use crate::error::TransferError;
use crate::lrts::{Completion, Get, Posted, Put, Refused};
use crate::memory::{Memory, MemoryMut};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey, Regions};
use std::sync::Arc;

/// Reads a region of `regions` into the operation's memory.
///
/// # Errors
/// The operation, while another claim writes the region.
pub(crate) fn get(regions: &Arc<Regions>, get: Get) -> Result<Posted, Refused<Get>> {
    let result = match local_room(&get) {
        Err(error) => Err(error),
        Ok(()) => match regions.claim(&get.key, get.offset, get.len as u64, ClaimMode::Read) {
            Err(ClaimError::Busy) => return Err(Refused(get)),
            Err(ClaimError::Failed(error)) => Err(error),
            Ok(claim) => {
                // SAFETY: the read claim keeps `len` bytes at its address allocated and unwritten;
                // `into` is held exclusively and has room for them. A region and an exclusive
                // handle never share bytes.
                unsafe {
                    std::ptr::copy_nonoverlapping(claim.address(), get.into.address(), get.len);
                }
                Ok(get.len)
            }
        },
    };
    Ok(Posted::Done(Completion { token: get.token, result, memory: Some(get.into) }))
}

/// Whether the operation's own memory has room for what it asks for.
///
/// # Errors
/// [`TransferError::LocalTooShort`].
pub(crate) fn local_room(get: &Get) -> Result<(), TransferError> {
    if get.len > get.into.len() {
        return Err(TransferError::LocalTooShort { have: get.into.len() as u64, need: get.len as u64 });
    }
    Ok(())
}

/// Writes the operation's memory into a region of `regions`.
///
/// # Errors
/// The operation, while another claim touches the region.
pub(crate) fn put(regions: &Arc<Regions>, put: Put) -> Result<Posted, Refused<Put>> {
    let len = put.from.len();
    let result = match regions.claim(&put.key, put.offset, len as u64, ClaimMode::Write) {
        Err(ClaimError::Busy) => return Err(Refused(put)),
        Err(ClaimError::Failed(error)) => Err(error),
        Ok(claim) => {
            // SAFETY: the write claim keeps `len` bytes at its address allocated and untouched by
            // others; `from` is readable for as many. A put target is exclusively held, so the
            // two share no bytes.
            unsafe { std::ptr::copy_nonoverlapping(put.from.address(), claim.address(), len) };
            Ok(len)
        }
    };
    Ok(Posted::Done(Completion { token: put.token, result, memory: None }))
}

/// Claims all of a region of `regions` for writing, and gives its memory, to be filled. The claim goes with the memory.
///
/// # Errors
/// As a put would fail.
pub(crate) fn fill(regions: &Arc<Regions>, key: &RegionKey) -> Result<MemoryMut, ClaimError> {
    let claim = regions.claim_to_fill(key)?;
    let (address, len) = (claim.address(), claim.len());
    // SAFETY: the owner is the write claim: while it lives, the bytes stay allocated, and nobody else touches them. They were initialised
    // when they were registered.
    Ok(unsafe { MemoryMut::from_raw_parts(address, len, None, Box::new(claim)) })
}

/// Lends a range of a region of `regions` in place; `None` while another claim writes it.
///
/// # Errors
/// As a get would fail.
pub(crate) fn view(
    regions: &Arc<Regions>,
    key: &RegionKey,
    offset: u64,
    len: usize,
) -> Result<Option<Memory>, TransferError> {
    match regions.claim(key, offset, len as u64, ClaimMode::Read) {
        Err(ClaimError::Busy) => Ok(None),
        Err(ClaimError::Failed(error)) => Err(error),
        Ok(claim) => {
            let address = claim.address().cast_const();
            // SAFETY: the claim is the owner: while it lives the bytes stay allocated and nobody
            // writes them.
            Ok(Some(unsafe { Memory::lent(address, len, None, Box::new(claim)) }))
        }
    }
}

/// Claims a range of a region of `regions` for copies in pieces.
///
/// # Errors
/// [`ClaimError`]; nothing is held then.
pub(crate) fn claim(
    regions: &Arc<Regions>,
    key: &RegionKey,
    offset: u64,
    len: usize,
    mode: ClaimMode,
) -> Result<ClaimedRange, ClaimError> {
    let claim = regions.claim(key, offset, len as u64, mode)?;
    Ok(ClaimedRange::here(claim.address(), Box::new(claim)))
}
