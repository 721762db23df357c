//! Memory of a device, mapped by the driver's virtual memory and shared by descriptor; what others have allocated there, and how that is shared;
//! and pinned memory of the host.

#![expect(unsafe_code, reason = "calls the driver")]

use super::code::Code;
use super::driver::{
    cuIpcCloseMemHandle, cuIpcGetMemHandle, cuIpcOpenMemHandle_v2, cuMemAddressFree, cuMemAddressReserve,
    cuMemCreate, cuMemExportToShareableHandle, cuMemFreeHost, cuMemGetAddressRange_v2,
    cuMemGetAllocationGranularity, cuMemGetHandleForAddressRange, cuMemHostAlloc,
    cuMemImportFromShareableHandle, cuMemMap, cuMemRelease, cuMemRetainAllocationHandle, cuMemSetAccess,
    cuMemUnmap, cuPointerGetAttribute,
};
use crate::memory::mapping::MemoryHandle;
use crate::words::info::Info;
use cudarc::driver::sys::{
    CU_MEMHOSTALLOC_PORTABLE, CUdevice, CUdeviceptr, CUipcMem_flags, CUipcMemHandle, CUmemAccess_flags,
    CUmemAccessDesc, CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp,
    CUmemAllocationType, CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType,
    CUmemRangeHandleType, CUpointer_attribute,
};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use rustix::io::FdFlags;
use std::ffi::c_char;

const DESCRIPTOR: CUmemAllocationHandleType =
    CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;

/// Physical memory of a device, here or in the process it came from.
struct Physical(CUmemGenericAllocationHandle);

impl Drop for Physical {
    fn drop(&mut self) {
        // SAFETY: made or imported by this value, and given back once; what is mapped stays until it is unmapped.
        let _ = unsafe { cuMemRelease(self.0) };
    }
}

impl Physical {
    /// What is mapped at an address, whoever made it; the driver refuses what was not made by `cuMemCreate`.
    fn at(address: u64) -> Result<Self, Code> {
        let (mut handle, place) = (0, std::ptr::without_provenance_mut(address as usize));
        // SAFETY: the address is only looked up; the driver writes one handle, which is to be given back.
        Code::check(unsafe { cuMemRetainAllocationHandle(&raw mut handle, place) })?;
        Ok(Self(handle))
    }

    /// A descriptor of it.
    fn export(&self) -> Result<OwnedFd, Code> {
        let mut number: RawFd = -1;
        // SAFETY: for this type of handle the driver writes one descriptor, which is ours.
        let descriptor = unsafe {
            Code::check(cuMemExportToShareableHandle((&raw mut number).cast(), self.0, DESCRIPTOR, 0))?;
            OwnedFd::from_raw_fd(number)
        };
        // Programs that are started here get none; that it cannot be said is no reason not to export.
        let _ = rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC);
        Ok(descriptor)
    }
}

/// Addresses that nobody else has.
struct Addresses {
    start: CUdeviceptr,
    len: usize,
    /// Bytes of each allocation that is mapped there, one behind the other.
    mapped: Vec<usize>,
}

impl Drop for Addresses {
    fn drop(&mut self) {
        let mut place = self.start;
        for len in &self.mapped {
            // SAFETY: mapped by this value, as a whole; whoever uses a part of it holds the value.
            let _ = unsafe { cuMemUnmap(place, *len) };
            place += *len as u64;
        }
        // SAFETY: reserved by this value, and nothing is mapped there any more.
        let _ = unsafe { cuMemAddressFree(self.start, self.len) };
    }
}

/// What the driver says of an address of a device; it refuses one that it does not know.
///
/// # Safety
/// `N` is as long a number as the driver writes for the attribute.
unsafe fn attribute<N: Default>(address: u64, asked: CUpointer_attribute) -> Result<N, Code> {
    let mut number = N::default();
    // SAFETY: the caller's promise; the address is only looked up.
    Code::check(unsafe { cuPointerGetAttribute((&raw mut number).cast(), asked, address) })?;
    Ok(number)
}

/// The device whose memory has an address; the driver refuses one that it does not know.
pub(crate) fn owner_of(address: u64) -> Result<CUdevice, Code> {
    // SAFETY: it is a number of 32 bits.
    unsafe { attribute::<i32>(address, CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL) }
}

/// Where an allocation starts that has an address, and its bytes. Of what several allocations are mapped side by side, it is one of them.
pub(crate) fn allocation_at(address: u64) -> Result<(u64, u64), Code> {
    let (mut start, mut len) = (0, 0);
    // SAFETY: the driver writes two numbers; the address is only looked up.
    Code::check(unsafe { cuMemGetAddressRange_v2(&raw mut start, &raw mut len, address) })?;
    Ok((start, len as u64))
}

/// Whether memory at an address was allocated in a way that has it shared by name (`cuMemAlloc`), and in one that has it shared by
/// descriptors (`cuMemCreate`, if its maker asked for them). What a driver does not say is not so.
pub(crate) fn shared_by(address: u64) -> (bool, bool) {
    use CUpointer_attribute::{
        CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
    };
    // SAFETY: the first is a truth value, of 32 bits at most, and the other one a set of 64 bits.
    let (named, types) = unsafe {
        (
            attribute::<i32>(address, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE),
            attribute::<u64>(address, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES),
        )
    };
    (named.is_ok_and(|named| named != 0), types.is_ok_and(|types| types & u64::from(DESCRIPTOR.0) != 0))
}

/// A descriptor of the allocation at an address, which was made by `cuMemCreate`.
pub(crate) fn descriptor_at(address: u64) -> Result<OwnedFd, Code> {
    Physical::at(address)?.export()
}

/// A driver's name of an allocation.
pub(crate) type Name = [u8; MemoryHandle::NAME_BYTES];

/// The name of an allocation that starts at an address, and was made by `cuMemAlloc`.
pub(crate) fn name_at(start: u64) -> Result<Name, Code> {
    let mut name = CUipcMemHandle { reserved: [0; MemoryHandle::NAME_BYTES] };
    // SAFETY: the driver writes one structure; the address is only looked up.
    Code::check(unsafe { cuIpcGetMemHandle(&raw mut name, start) })?;
    Ok(name.reserved.map(|byte| byte.to_ne_bytes()[0]))
}

/// Maps an allocation of another process by its name, for the context that was entered. It stays until it is [closed](close_name).
pub(crate) fn open_name(name: &Name) -> Result<u64, Code> {
    let (mut start, name) = (0, CUipcMemHandle { reserved: name.map(|byte| c_char::from_ne_bytes([byte])) });
    let flags = CUipcMem_flags::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
    // SAFETY: the driver checks the name, and writes one address.
    Code::check(unsafe { cuIpcOpenMemHandle_v2(&raw mut start, name, flags) })?;
    Ok(start)
}

/// Unmaps what was opened at an address.
///
/// # Safety
/// Nobody uses it any more, and it was opened as often as it is closed.
pub(crate) unsafe fn close_name(start: u64) {
    // SAFETY: the caller's promise.
    let _ = unsafe { cuIpcCloseMemHandle(start) };
}

/// Memory of a device, mapped for it.
pub(crate) struct Memory {
    addresses: Addresses,
    /// What is mapped, one behind the other: what is made here is one.
    physical: Vec<Physical>,
}

fn location(device: CUdevice) -> CUmemLocation {
    CUmemLocation { type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE, id: device }
}

impl Memory {
    /// At least `bytes` bytes, which other processes can map and networks can reach, where the device has it.
    pub(crate) fn create(device: CUdevice, bytes: u64, info: &Info) -> Result<Self, Code> {
        // SAFETY: zeros are a value of this structure of numbers and pointers: the driver's default.
        let mut properties: CUmemAllocationProp = unsafe { std::mem::zeroed() };
        properties.type_ = CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED;
        if info.is_exportable {
            properties.requestedHandleTypes = DESCRIPTOR;
        }
        properties.location = location(device);
        properties.allocFlags.gpuDirectRDMACapable = u8::from(info.is_registrable);
        let minimum = CUmemAllocationGranularity_flags::CU_MEM_ALLOC_GRANULARITY_MINIMUM;
        let (mut granularity, mut handle) = (0, 0);
        // SAFETY: the driver reads the structure, and writes one number and one handle.
        let len = unsafe {
            Code::check(cuMemGetAllocationGranularity(&raw mut granularity, &raw const properties, minimum))?;
            let len = (bytes as usize).next_multiple_of(granularity.max(1));
            Code::check(cuMemCreate(&raw mut handle, len, &raw const properties, 0))?;
            len
        };
        Self::map(device, vec![(Physical(handle), len)])
    }

    /// Allocations of so many bytes each that another process, or another device of this one, has exported, mapped side by side for this device,
    /// which may be another one than the memory's. The driver refuses what is none, or not as long.
    pub(crate) fn import(device: CUdevice, parts: &[(OwnedFd, u64)]) -> Result<Self, Code> {
        let parts = parts.iter().map(|(descriptor, bytes)| {
            let mut handle = 0;
            let number = std::ptr::without_provenance_mut(descriptor.as_raw_fd() as usize);
            // SAFETY: descriptors are passed as numbers in place of the pointer; the driver writes one handle.
            Code::check(unsafe { cuMemImportFromShareableHandle(&raw mut handle, number, DESCRIPTOR) })?;
            Ok((Physical(handle), *bytes as usize))
        });
        Self::map(device, parts.collect::<Result<_, Code>>()?)
    }

    fn map(device: CUdevice, parts: Vec<(Physical, usize)>) -> Result<Self, Code> {
        let (mut start, len) = (0, parts.iter().fold(0, |sum: usize, (_, len)| sum.saturating_add(*len)));
        // SAFETY: the driver writes one address, of a range that nobody has.
        Code::check(unsafe { cuMemAddressReserve(&raw mut start, len, 0, 0, 0) })?;
        let mut addresses = Addresses { start, len, mapped: Vec::with_capacity(parts.len()) };
        let (mut place, mut physical) = (start, Vec::with_capacity(parts.len()));
        for (part, len) in parts {
            // SAFETY: the range was reserved a moment ago, and has room for all parts, one behind the other.
            Code::check(unsafe { cuMemMap(place, len, 0, part.0, 0) })?;
            addresses.mapped.push(len);
            physical.push(part);
            place += len as u64;
        }
        let access = CUmemAccessDesc {
            location: location(device),
            flags: CUmemAccess_flags::CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
        };
        // SAFETY: the range is mapped; the driver reads one structure.
        Code::check(unsafe { cuMemSetAccess(start, len, &raw const access, 1) })?;
        Ok(Self { addresses, physical })
    }

    pub(crate) fn address(&self) -> u64 {
        self.addresses.start
    }

    pub(crate) fn len(&self) -> u64 {
        self.addresses.len as u64
    }

    /// A dma-buf of all of it, for networks.
    pub(crate) fn dma_buf(&self) -> Result<OwnedFd, Code> {
        let mut number: RawFd = -1;
        let kind = CUmemRangeHandleType::CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD;
        let (start, len) = (self.addresses.start, self.addresses.len);
        // SAFETY: for this type of handle the driver writes one descriptor, which is ours; the range is mapped, in whole pages.
        let descriptor = unsafe {
            Code::check(cuMemGetHandleForAddressRange((&raw mut number).cast(), start, len, kind, 0))?;
            OwnedFd::from_raw_fd(number)
        };
        // As for descriptors of allocations.
        let _ = rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC);
        Ok(descriptor)
    }

    /// A descriptor of each of its allocations, and their bytes.
    pub(crate) fn export(&self) -> Result<Vec<(OwnedFd, u64)>, Code> {
        let parts = self.physical.iter().zip(&self.addresses.mapped);
        parts.map(|(physical, len)| Ok((physical.export()?, *len as u64))).collect()
    }
}

/// Pinned memory of the host, zero at first.
pub(crate) struct HostMemory {
    start: *mut u8,
    len: usize,
}

// SAFETY: an address range that lives as long as the value; the code that turns addresses into accesses argues for those.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

impl HostMemory {
    pub(crate) fn create(bytes: u64) -> Result<Self, Code> {
        let (mut start, len) = (std::ptr::null_mut(), bytes as usize);
        // SAFETY: the driver writes one address, of memory that is ours.
        Code::check(unsafe { cuMemHostAlloc(&raw mut start, len, CU_MEMHOSTALLOC_PORTABLE) })?;
        let start = start.cast::<u8>();
        // SAFETY: so many bytes, which nobody else has yet.
        unsafe { start.write_bytes(0, len) };
        Ok(Self { start, len })
    }

    /// Its address, for the host and, as all addresses are of one space, for the device.
    pub(crate) fn address(&self) -> u64 {
        self.start as u64
    }

    pub(crate) fn len(&self) -> u64 {
        self.len as u64
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        // SAFETY: made by this value, and given back once; whoever uses a part of it holds the value.
        let _ = unsafe { cuMemFreeHost(self.start.cast()) };
    }
}
