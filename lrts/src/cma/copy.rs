//! Copies of claimed ranges by the kernel.

#![expect(unsafe_code, reason = "copies between owned memory and a claimed range of another process")]

use super::sys::{self, Direction, PIECE_BYTES_MAX, Remote};
use super::vectors::transfer_each;
use crate::error::TransferError;
use crate::host::PeerClaim;
use crate::lrts::{Get, Put};
use crate::region::{ForeignRange, Vector};
use rustix::io::Errno;

/// Fills a get's memory.
///
/// # Errors
/// [`TransferError::PeerLost`] when the process is gone, else [`TransferError::Refused`] with the kernel's answer.
pub(super) fn read(claim: &PeerClaim, get: &Get) -> Result<(), TransferError> {
    let remote = remote(claim, get.offset)?;
    let (local, len) = (get.into.address(), get.len);
    // SAFETY: `into` is held exclusively and has room (the caller compared). In this very process the read claim
    // keeps the range as the region's owner published it.
    let copied = unsafe { sys::transfer(Direction::Read, remote, local, len, PIECE_BYTES_MAX) };
    copied.map_err(|error| failure(claim, error))
}

/// Writes a put's memory.
///
/// # Errors
/// As for `read`.
pub(super) fn write(claim: &PeerClaim, put: &Put) -> Result<(), TransferError> {
    let remote = remote(claim, put.offset)?;
    let (local, len) = (put.from.address().cast_mut(), put.from.len());
    // SAFETY: `from` is readable and only read in this direction. In this very process the write claim makes the
    // range ours alone.
    let copied = unsafe { sys::transfer(Direction::Write, remote, local, len, PIECE_BYTES_MAX) };
    copied.map_err(|error| failure(claim, error))
}

/// A claimed range, copied in pieces.
pub(super) struct KernelRange {
    claim: PeerClaim,
    remote: Remote,
    /// Whether the neighbour is a node of this very process, which outlives it.
    is_here: bool,
}

impl KernelRange {
    /// # Errors
    /// [`TransferError::Refused`] when its board names an address that is none.
    pub(super) fn new(claim: PeerClaim, offset: u64) -> Result<Self, TransferError> {
        let remote = remote(&claim, offset)?;
        let is_here = u32::try_from(remote.pid) == Ok(std::process::id());
        Ok(Self { claim, remote, is_here })
    }

    /// Whether the neighbour has its memory. The kernel tells of a process that is gone, but not of a node that was dropped.
    fn check(&self) -> Result<(), TransferError> {
        let neighbour = self.claim.neighbour();
        if self.is_here {
            neighbour.read_link();
        }
        if neighbour.fate().is_some() { Err(TransferError::PeerLost(neighbour.node())) } else { Ok(()) }
    }

    fn at(&self, at: usize) -> Result<Remote, TransferError> {
        let address = self.remote.address.checked_add(at as u64);
        let address = address.ok_or_else(|| failure(&self.claim, Errno::FAULT))?;
        Ok(Remote { address, ..self.remote })
    }
}

impl ForeignRange for KernelRange {
    unsafe fn read(&self, at: usize, into: *mut u8, len: usize) -> Result<(), TransferError> {
        self.check()?;
        // SAFETY: the caller's promise. In this very process the read claim keeps the range as the region's owner published it.
        let copied = unsafe { sys::transfer(Direction::Read, self.at(at)?, into, len, PIECE_BYTES_MAX) };
        copied.map_err(|error| failure(&self.claim, error))?;
        // What was read of a node that was dropped meanwhile is anything.
        self.check()
    }

    unsafe fn write(&self, at: usize, from: *const u8, len: usize) -> Result<(), TransferError> {
        self.check()?;
        let (remote, from) = (self.at(at)?, from.cast_mut());
        // SAFETY: the caller's promise: `from` is only read in this direction, and the part of the range is the caller's alone.
        let copied = unsafe { sys::transfer(Direction::Write, remote, from, len, PIECE_BYTES_MAX) };
        copied.map_err(|error| failure(&self.claim, error))
    }

    unsafe fn read_each(&self, vectors: &[Vector]) -> Result<(), TransferError> {
        self.check()?;
        // SAFETY: as for `read`, of each vector.
        let copied = unsafe { transfer_each(Direction::Read, self.remote, vectors) };
        copied.map_err(|error| failure(&self.claim, error))?;
        self.check()
    }

    unsafe fn write_each(&self, vectors: &[Vector]) -> Result<(), TransferError> {
        self.check()?;
        // SAFETY: as for `write`, of each vector.
        let copied = unsafe { transfer_each(Direction::Write, self.remote, vectors) };
        copied.map_err(|error| failure(&self.claim, error))
    }
}

fn remote(claim: &PeerClaim, offset: u64) -> Result<Remote, TransferError> {
    let address = claim.notice().address.checked_add(offset).ok_or_else(|| failure(claim, Errno::FAULT))?;
    Ok(Remote { pid: claim.neighbour().introduction().pid, address })
}

fn failure(claim: &PeerClaim, error: Errno) -> TransferError {
    let node = claim.neighbour().node();
    match error {
        Errno::SRCH => TransferError::PeerLost(node),
        error => TransferError::Refused { node, cause: error.to_string() },
    }
}
