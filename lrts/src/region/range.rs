//! Claimed range: a piece of a region under a claim, which its holder copies from or to bit by bit, on any thread.
//!
//! The claim keeps the bytes where they are, and correct nodes away from them, until the range is dropped.

#![expect(unsafe_code, reason = "copies between claimed ranges and owned memory")]

use crate::error::TransferError;
use crate::memory::Owner;

/// A run of a claimed range, and its place at this end; see [`ClaimedRange::read_each`].
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    /// First byte within the range.
    pub at: usize,
    /// First byte here.
    pub here: *mut u8,
    /// Number of bytes.
    pub len: usize,
}

/// A range of another process, which the kernel copies.
pub(crate) trait ForeignRange: Send + Sync {
    /// Fills `len` bytes at `into` from the range, from `at` on.
    ///
    /// # Errors
    /// [`TransferError::PeerLost`] or [`TransferError::Refused`]; some of the bytes may have been written.
    ///
    /// # Safety
    /// `at + len` lies within the range, and `into` is valid for writes of `len` bytes that nobody else touches.
    unsafe fn read(&self, at: usize, into: *mut u8, len: usize) -> Result<(), TransferError>;

    /// Writes `len` bytes at `from` into the range, from `at` on.
    ///
    /// # Errors
    /// As for `read`.
    ///
    /// # Safety
    /// `at + len` lies within the range, `from` is valid for reads of `len` bytes, and nobody else touches that part of the range.
    unsafe fn write(&self, at: usize, from: *const u8, len: usize) -> Result<(), TransferError>;

    /// Reads each vector.
    ///
    /// # Errors
    /// As for `read`.
    ///
    /// # Safety
    /// As for `read`, of each vector.
    unsafe fn read_each(&self, vectors: &[Vector]) -> Result<(), TransferError>;

    /// Writes each vector.
    ///
    /// # Errors
    /// As for `read`.
    ///
    /// # Safety
    /// As for `write`, of each vector.
    unsafe fn write_each(&self, vectors: &[Vector]) -> Result<(), TransferError>;
}

enum RangeMemory {
    /// In memory that this process has, or maps.
    Here {
        address: *mut u8,
        _owner: Owner,
    },
    There(Box<dyn ForeignRange>),
}

/// A range of a region that copies reach while it lives; see [`Lrts::claim`](crate::Lrts::claim).
pub struct ClaimedRange(RangeMemory);

// SAFETY: an address that stays valid while the owner lives, and the owner, which is `Send` and `Sync`; what may be done with the
// bytes is argued where it is done.
unsafe impl Send for ClaimedRange {}
// SAFETY: as above: `&ClaimedRange` gives out the address, and copies whose callers argue for them.
unsafe impl Sync for ClaimedRange {}

impl ClaimedRange {
    /// A range in this process's address space, from `address` on. It stays valid, and under its claim, while `owner` lives.
    pub(crate) fn here(address: *mut u8, owner: Owner) -> Self {
        Self(RangeMemory::Here { address, _owner: owner })
    }

    /// A range of another process.
    pub(crate) fn there(range: impl ForeignRange + 'static) -> Self {
        Self(RangeMemory::There(Box::new(range)))
    }

    /// Its first byte, if it lies in this process's address space.
    pub(crate) fn address(&self) -> Option<*mut u8> {
        match &self.0 {
            RangeMemory::Here { address, .. } => Some(*address),
            RangeMemory::There(_) => None,
        }
    }

    /// Fills `len` bytes at `into`, from `at` on. The two may overlap: a wrong board may name one range twice.
    ///
    /// # Errors
    /// [`TransferError::PeerLost`] or [`TransferError::Refused`] from a range of another process; some of the bytes may have been
    /// written.
    ///
    /// # Safety
    /// `at + len` lies within the range, which was claimed for reading, and `into` is valid for writes of `len` bytes that nobody else
    /// touches.
    pub unsafe fn read(&self, at: usize, into: *mut u8, len: usize) -> Result<(), TransferError> {
        match &self.0 {
            RangeMemory::Here { address, .. } => {
                // SAFETY: by the caller's promise, and because the owner keeps the range valid.
                unsafe { std::ptr::copy(address.wrapping_add(at).cast_const(), into, len) };
                Ok(())
            }
            // SAFETY: the caller's promise.
            RangeMemory::There(range) => unsafe { range.read(at, into, len) },
        }
    }

    /// Writes `len` bytes at `from`, from `at` on.
    ///
    /// # Errors
    /// Those of a [`ForeignRange`].
    ///
    /// # Safety
    /// As for [`ForeignRange::write`].
    pub(crate) unsafe fn write(&self, at: usize, from: *const u8, len: usize) -> Result<(), TransferError> {
        match &self.0 {
            RangeMemory::Here { address, .. } => {
                // SAFETY: by the caller's promise, and because the owner keeps the range valid.
                unsafe { std::ptr::copy(from, address.wrapping_add(at), len) };
                Ok(())
            }
            // SAFETY: the caller's promise.
            RangeMemory::There(range) => unsafe { range.write(at, from, len) },
        }
    }

    /// Fills each vector's place here from its place in the range: of another process, by one system call for a thousand of them. What
    /// lies between them is neither read nor written.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Safety
    /// As for [`read`](Self::read), of each vector.
    pub unsafe fn read_each(&self, vectors: &[Vector]) -> Result<(), TransferError> {
        match &self.0 {
            // SAFETY: the caller's promise.
            RangeMemory::There(range) => unsafe { range.read_each(vectors) },
            RangeMemory::Here { .. } => vectors.iter().try_for_each(|vector| {
                // SAFETY: the caller's promise, of each vector.
                unsafe { self.read(vector.at, vector.here, vector.len) }
            }),
        }
    }

    /// Writes each vector's bytes here to its place in the range, as [`read_each`](Self::read_each) reads.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    ///
    /// # Safety
    /// Each vector lies within the range, which was claimed for writing, and in which nobody else touches it; its bytes here are valid
    /// for reads.
    pub unsafe fn write_each(&self, vectors: &[Vector]) -> Result<(), TransferError> {
        match &self.0 {
            // SAFETY: the caller's promise.
            RangeMemory::There(range) => unsafe { range.write_each(vectors) },
            RangeMemory::Here { .. } => vectors.iter().try_for_each(|vector| {
                // SAFETY: the caller's promise, of each vector.
                unsafe { self.write(vector.at, vector.here, vector.len) }
            }),
        }
    }
}
