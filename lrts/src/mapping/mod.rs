//! Mappings of shared memory objects: created here, sealed against shrinking, passed by descriptor.
//!
//! A mapping outlives its descriptor, so descriptors are needed only until everybody has mapped the object.

#![expect(unsafe_code, reason = "maps shared memory objects and forms typed views of them")]

mod addresses;

pub(crate) use addresses::Addresses;
pub use addresses::HUGE_PAGE_BYTES;

use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{Advice, MapFlags, ProtFlags};
use std::io;
use std::sync::Arc;

/// A mapping of a memfd, readable and writable, shared with every process that mapped it too.
///
/// The object has no name in any file system and vanishes with the last process that maps it.
#[derive(Debug)]
pub struct Mapping {
    address: *mut u8,
    len: usize,
    /// The range in which it lies, if it is long or was to lie behind others.
    addresses: Option<Arc<Addresses>>,
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
        let descriptor = object(label, len)?;
        back(&descriptor, len)?;
        Ok((Self::map(&descriptor, len)?, descriptor))
    }

    /// The same in a range of addresses, behind what is there. Its addresses are free again when all is gone that lies in the range.
    ///
    /// # Errors
    /// As [`Mapping::create`], and when the range has no room.
    pub(crate) fn create_in(
        addresses: &Arc<Addresses>,
        label: &str,
        len: usize,
    ) -> io::Result<(Self, OwnedFd)> {
        let descriptor = object(label, len)?;
        let mapping = Self::map_in(addresses, &descriptor, len)?;
        back(&descriptor, len)?;
        Ok((mapping, descriptor))
    }

    /// Memory of this process alone, `len` zero bytes that are backed as they are touched.
    ///
    /// # Errors
    /// The kernel's: no addresses.
    #[cfg(feature = "sim")]
    pub(crate) fn private(len: usize) -> io::Result<Self> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | MapFlags::NORESERVE);
        // SAFETY: a fresh mapping at an address the kernel chooses aliases nothing of ours.
        let address = unsafe { rustix::mm::mmap_anonymous(std::ptr::null_mut(), len, access, flags)? };
        Ok(Self { address: address.cast(), len, addresses: None })
    }

    /// Maps an object that a peer sent, after checking that it has at least `len` bytes and cannot shrink
    /// under our feet.
    ///
    /// # Errors
    /// The kernel's, or invalid data when the object is too short or not sealed.
    pub fn open(descriptor: &OwnedFd, len: usize) -> io::Result<Self> {
        check(descriptor, len)?;
        Self::map(descriptor, len)
    }

    /// Whether all of an object's first `len` bytes have memory behind them already.
    pub fn is_backed(descriptor: &OwnedFd, len: usize) -> bool {
        let blocks = rustix::fs::fstat(descriptor).map_or(0, |stat| stat.st_blocks);
        u64::try_from(blocks).unwrap_or(0).saturating_mul(512) >= len as u64
    }

    /// Maps an object; a long one where huge pages can be, which the kernel sees to by itself on some machines only.
    fn map(descriptor: &OwnedFd, len: usize) -> io::Result<Self> {
        let (access, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED);
        if len < HUGE_PAGE_BYTES {
            // SAFETY: a fresh mapping at an address the kernel chooses aliases nothing of ours.
            let address =
                unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, access, flags, descriptor, 0)? };
            return Ok(Self { address: address.cast(), len, addresses: None });
        }
        Self::map_in(&Arc::new(Addresses::reserve(len)?), descriptor, len)
    }

    fn map_in(addresses: &Arc<Addresses>, descriptor: &OwnedFd, len: usize) -> io::Result<Self> {
        Ok(Self { address: addresses.map(descriptor, len)?, len, addresses: Some(Arc::clone(addresses)) })
    }

    /// The addresses of a range.
    ///
    /// # Panics
    /// If it lies outside the mapping.
    fn range(&self, offset: usize, len: usize) -> *mut std::ffi::c_void {
        assert!(offset.checked_add(len).is_some_and(|end| end <= self.len), "a range outside the mapping");
        self.address.wrapping_add(offset).cast()
    }

    /// Enters the pages of a range into this process's page table, some 50 us per MiB, or 1 us where it has huge pages. Otherwise each
    /// page's first use does, which takes ten times as long in sum. Changes no byte.
    ///
    /// # Panics
    /// If the range lies outside the mapping.
    pub fn populate(&self, offset: usize, len: usize) {
        enter_pages(self.range(offset, len).cast(), len);
    }

    /// Whether the kernel can do [`Mapping::collapse`] (Linux 6.1 can).
    pub fn can_collapse() -> bool {
        // SAFETY: no byte is touched; the kernel only says whether it knows the call.
        unsafe { libc::madvise(std::ptr::null_mut(), 0, libc::MADV_COLLAPSE) == 0 }
    }

    /// Has the kernel put the pages of a range together to huge ones, which copies them: about a millisecond for each. Whoever uses a
    /// page meanwhile waits; in other processes that map it its next use enters the huge page. Changes no byte.
    ///
    /// # Errors
    /// The kernel's: no room for a huge page, or the network has some of the small ones pinned. The pages stay as they are then.
    ///
    /// # Panics
    /// If the range lies outside the mapping.
    pub fn collapse(&self, offset: usize, len: usize) -> io::Result<()> {
        // SAFETY: the range is of this mapping; the call changes no byte.
        let done = unsafe { libc::madvise(self.range(offset, len), len, libc::MADV_COLLAPSE) };
        if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
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
        if self.addresses.is_none() {
            // SAFETY: this value made the mapping and is the only one that unmaps it; views borrow from it.
            let _ = unsafe { rustix::mm::munmap(self.address.cast(), self.len) };
        }
    }
}

/// Creates a shared memory object of `len` zero bytes, which are not backed yet.
fn object(label: &str, len: usize) -> io::Result<OwnedFd> {
    let descriptor = rustix::fs::memfd_create(label, MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::fs::ftruncate(&descriptor, len as u64)?;
    Ok(descriptor)
}

/// Backs all bytes of an object that have no memory behind them, and seals it: it keeps its length.
fn back(descriptor: &OwnedFd, len: usize) -> io::Result<()> {
    let all = rustix::fs::FallocateFlags::empty();
    rustix::io::retry_on_intr(|| rustix::fs::fallocate(descriptor, all, 0, len as u64))?;
    rustix::fs::fcntl_add_seals(descriptor, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    Ok(())
}

/// Checks that an object which a peer sent has at least `len` bytes, cannot shrink under our feet, and may be written: a mapping in a range
/// that failed would leave others' mappings room there, on kernels before 6.12.
///
/// # Errors
/// The kernel's, or invalid data when it is too short or sealed otherwise.
pub(crate) fn check(descriptor: &OwnedFd, len: usize) -> io::Result<()> {
    let seals = rustix::fs::fcntl_get_seals(descriptor)?;
    let size = rustix::fs::fstat(descriptor)?.st_size;
    let is_sealed =
        seals.contains(SealFlags::SHRINK) && !seals.intersects(SealFlags::WRITE | SealFlags::FUTURE_WRITE);
    if !is_sealed || u64::try_from(size).unwrap_or(0) < len as u64 {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "shared memory of {size} bytes (need {len}) with seals {seals:?} (need SHRINK, no WRITE)"
            ),
        ));
    }
    Ok(())
}

/// As [`Mapping::populate`], of memory that is mapped otherwise.
pub(crate) fn enter_pages(address: *mut u8, len: usize) {
    // SAFETY: the call reads, and changes no byte; of what is not mapped it tells.
    let populated = unsafe { rustix::mm::madvise(address.cast(), len, Advice::LinuxPopulateRead) };
    // A kernel that does not know the call enters pages one by one, as they are used.
    let _ = populated;
}
