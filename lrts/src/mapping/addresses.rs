//! Addresses: a range of this process's addresses that nobody else uses, in which shared memory objects are mapped one behind the other.
//!
//! A range takes no memory. Each object begins where a huge page can, and stays until the range is dropped.

#![expect(unsafe_code, reason = "reserves ranges of addresses and maps shared memory objects there")]

use rustix::fd::OwnedFd;
use rustix::mm::{MapFlags, ProtFlags};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes of a huge page, where ordinary ones have 4 KiB. On a machine with others there are none here.
pub const HUGE_PAGE_BYTES: usize = 2 << 20;

/// A reserved range.
#[derive(Debug)]
pub(crate) struct Addresses {
    /// What the kernel reserved, a huge page more than is used.
    reserved: *mut u8,
    reserved_bytes: usize,
    len: usize,
    /// Bytes that objects were given. Written by any thread that maps one; nothing else is ordered by it.
    taken: AtomicUsize,
}

// SAFETY: addresses that are this value's until it is dropped; it hands them out once each, and reads and writes nothing there.
unsafe impl Send for Addresses {}
// SAFETY: as above.
unsafe impl Sync for Addresses {}

impl Addresses {
    /// Reserves room for `len` bytes, rounded up to huge pages.
    ///
    /// # Errors
    /// The kernel's: not so many are left, or allowed (`ulimit -v`).
    pub(crate) fn reserve(len: usize) -> io::Result<Self> {
        let len = len.checked_next_multiple_of(HUGE_PAGE_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
        let reserved_bytes = len.checked_add(HUGE_PAGE_BYTES).ok_or(io::ErrorKind::OutOfMemory)?;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a fresh mapping at an address the kernel chooses aliases nothing of ours; nobody can touch it.
        let reserved = unsafe {
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), reserved_bytes, ProtFlags::empty(), flags)?
        };
        Ok(Self { reserved: reserved.cast(), reserved_bytes, len, taken: AtomicUsize::new(0) })
    }

    /// First address that an object is mapped at.
    pub(crate) fn first(&self) -> *mut u8 {
        self.reserved.wrapping_add(self.reserved.align_offset(HUGE_PAGE_BYTES))
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Whether an object of so many bytes fits behind those that are there.
    pub(crate) fn has_room(&self, len: usize) -> bool {
        let taken = self.taken.load(Ordering::Relaxed);
        len.checked_next_multiple_of(HUGE_PAGE_BYTES).is_some_and(|span| span <= self.len - taken)
    }

    /// Leaves so many bytes free, rounded up to huge pages, behind what is there. Returns where they begin.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`] if so many are not left.
    pub(crate) fn skip(&self, len: usize) -> io::Result<usize> {
        let behind = |taken: usize| {
            taken.checked_add(len.checked_next_multiple_of(HUGE_PAGE_BYTES)?).filter(|end| *end <= self.len)
        };
        self.taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, behind)
            .map_err(|_| io::ErrorKind::OutOfMemory.into())
    }

    /// Maps the first `len` bytes of an object, readable and writable, behind what is there. If that fails, the addresses stay free.
    ///
    /// # Errors
    /// The kernel's, and as of [`Addresses::skip`].
    pub(crate) fn map(&self, object: &OwnedFd, len: usize) -> io::Result<*mut u8> {
        let address = self.first().wrapping_add(self.skip(len)?);
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | MapFlags::FIXED);
        // SAFETY: these addresses are this value's, were handed out just now, and are nobody else's.
        let mapped = unsafe { rustix::mm::mmap(address.cast(), len, access, flags, object, 0)? };
        Ok(mapped.cast())
    }
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // SAFETY: this value reserved the range and is the only one that unmaps it, and what was mapped there; whoever uses that holds it.
        let _ = unsafe { rustix::mm::munmap(self.reserved.cast(), self.reserved_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::Mapping;
    use std::sync::Arc;

    #[test]
    fn objects_lie_behind_each_other_as_far_as_there_is_room() {
        let addresses = Arc::new(Addresses::reserve(3 * HUGE_PAGE_BYTES).expect("addresses"));
        let create = |len| Mapping::create_in(&addresses, "test", len).map(|(mapping, _)| mapping);
        let first = create(HUGE_PAGE_BYTES).expect("memory");
        let second = create(HUGE_PAGE_BYTES + 1).expect("memory");
        assert_eq!(first.address(), addresses.first());
        assert_eq!(second.address(), addresses.first().wrapping_add(HUGE_PAGE_BYTES));
        assert!(!addresses.has_room(1) && addresses.has_room(0));
        assert_eq!(create(1).expect_err("it is full").kind(), io::ErrorKind::OutOfMemory);
    }

    #[test]
    fn more_than_there_are_is_an_error() {
        for len in [usize::MAX, usize::MAX - HUGE_PAGE_BYTES, 1 << 60] {
            assert!(Addresses::reserve(len).is_err());
        }
    }
}
