#![expect(unsafe_code, reason = "maps shared memory objects and forms typed views of them")]
//! Mappings of shared memory objects: created here, sealed against shrinking, passed by descriptor.
//!
//! A mapping outlives its descriptor, so descriptors are needed only until everybody has mapped the object.

use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::io;

/// A mapping of a memfd, readable and writable, shared with every process that mapped it too.
///
/// The object has no name in any file system and vanishes with the last process that maps it.
#[derive(Debug)]
pub struct Mapping {
    address: *mut u8,
    len: usize,
}

// SAFETY: a mapping is an address range that lives as long as the value; it hands out addresses
// only, and the code that turns them into accesses argues for those.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Creates a shared memory object of `len` zero bytes, all of them backed (so that a full machine is an
    /// error here, not a bus error later), and maps it. The descriptor is what a peer needs to map it.
    ///
    /// # Errors
    /// The kernel's: no memory, too many descriptors.
    pub fn create(label: &str, len: usize) -> io::Result<(Self, OwnedFd)> {
        let descriptor = rustix::fs::memfd_create(label, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        rustix::fs::ftruncate(&descriptor, len as u64)?;
        rustix::io::retry_on_intr(|| {
            rustix::fs::fallocate(&descriptor, rustix::fs::FallocateFlags::empty(), 0, len as u64)
        })?;
        rustix::fs::fcntl_add_seals(&descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
        Ok((Self::map(&descriptor, len)?, descriptor))
    }

    /// Maps an object that a peer sent, after checking that it has at least `len` bytes and cannot shrink
    /// under our feet.
    ///
    /// # Errors
    /// The kernel's, or invalid data when the object is too short or not sealed.
    pub fn open(descriptor: &OwnedFd, len: usize) -> io::Result<Self> {
        let seals = rustix::fs::fcntl_get_seals(descriptor)?;
        let size = rustix::fs::fstat(descriptor)?.st_size;
        if !seals.contains(SealFlags::SHRINK) || u64::try_from(size).unwrap_or(0) < len as u64 {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("shared memory of {size} bytes (need {len}) with seals {seals:?} (need SHRINK)"),
            ));
        }
        Self::map(descriptor, len)
    }

    /// Whether all of an object's first `len` bytes have memory behind them already.
    pub fn is_backed(descriptor: &OwnedFd, len: usize) -> bool {
        let blocks = rustix::fs::fstat(descriptor).map_or(0, |stat| stat.st_blocks);
        u64::try_from(blocks).unwrap_or(0).saturating_mul(512) >= len as u64
    }

    fn map(descriptor: &OwnedFd, len: usize) -> io::Result<Self> {
        // SAFETY: a fresh mapping at an address the kernel chooses aliases nothing of ours.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                len,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                descriptor,
                0,
            )?
        };
        Ok(Self { address: address.cast(), len })
    }

    /// Enters all pages into this process's page table, some 50 us per MiB. Otherwise each page's first use does, which
    /// takes ten times as long in sum. Changes no byte.
    pub fn populate(&self) {
        // SAFETY: the range is this mapping; the call reads, and changes no byte.
        let populated =
            unsafe { rustix::mm::madvise(self.address.cast(), self.len, Advice::LinuxPopulateRead) };
        // A kernel that does not know the call enters pages one by one, as they are used.
        let _ = populated;
    }

    /// Whether the kernel can do [`Mapping::back_again`] (Linux 5.14 can).
    pub fn can_be_backed_again() -> bool {
        // SAFETY: no byte is touched; the kernel only says whether it knows the call.
        unsafe { rustix::mm::madvise(std::ptr::null_mut(), 0, Advice::LinuxPopulateWrite) }.is_ok()
    }

    /// Takes all pages away, here and in every process that maps the object: its bytes are zero afterwards, and are backed as they are
    /// touched, or by [`Mapping::back_again`].
    ///
    /// # Safety
    /// Nobody may be using its bytes.
    pub unsafe fn give_back(&self) {
        // SAFETY: the range is this mapping, whose bytes nobody uses by the caller's promise.
        let removed = unsafe { rustix::mm::madvise(self.address.cast(), self.len, Advice::LinuxRemove) };
        // A kernel that cannot keeps the pages, and all goes on.
        let _ = removed;
    }

    /// Backs all bytes after [`Mapping::give_back`], so that a full machine is an error here, not a bus error later.
    ///
    /// # Errors
    /// The kernel's: no memory.
    pub fn back_again(&self) -> io::Result<()> {
        // SAFETY: the range is this mapping; the call changes no byte.
        let backed =
            unsafe { rustix::mm::madvise(self.address.cast(), self.len, Advice::LinuxPopulateWrite) };
        Ok(backed?)
    }

    /// First byte.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it maps no byte; never true for a mapping the kernel granted.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// `count` values of `T` that start `offset` bytes in, shared with every process that maps the object.
    ///
    /// # Panics
    /// If they lie outside the mapping or are not aligned.
    ///
    /// # Safety
    /// `T` must consist of atomics only (all peers write it), and every bit pattern must be a value of it.
    pub unsafe fn atomics<T>(&self, offset: usize, count: usize) -> &[T] {
        let bytes = count.checked_mul(size_of::<T>()).expect("size fits");
        assert!(offset.checked_add(bytes).is_some_and(|end| end <= self.len), "view outside the mapping");
        let first = self.address.wrapping_add(offset).cast::<T>();
        assert!(first.is_aligned(), "view is not aligned");
        // SAFETY: inside the mapping, aligned, alive as long as `self`; atomics by the caller's promise.
        unsafe { std::slice::from_raw_parts(first, count) }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: this value made the mapping and is the only one that unmaps it; views borrow from it.
        let _ = unsafe { rustix::mm::munmap(self.address.cast(), self.len) };
    }
}
