//! Memory of a device, mapped by the driver's virtual memory and shared by descriptor, and pinned memory of the host.

#![expect(unsafe_code, reason = "calls the driver")]

use super::code::Code;
use super::driver::{
    cuMemAddressFree, cuMemAddressReserve, cuMemCreate, cuMemExportToShareableHandle, cuMemFreeHost,
    cuMemGetAllocationGranularity, cuMemGetHandleForAddressRange, cuMemHostAlloc,
    cuMemImportFromShareableHandle, cuMemMap, cuMemRelease, cuMemSetAccess, cuMemUnmap,
    cuPointerGetAttribute,
};
use crate::words::info::Info;
use cudarc::driver::sys::{
    CU_MEMHOSTALLOC_PORTABLE, CUdevice, CUdeviceptr, CUmemAccess_flags, CUmemAccessDesc,
    CUmemAllocationGranularity_flags, CUmemAllocationHandleType, CUmemAllocationProp, CUmemAllocationType,
    CUmemGenericAllocationHandle, CUmemLocation, CUmemLocationType, CUmemRangeHandleType,
    CUpointer_attribute,
};
use rustix::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use rustix::io::FdFlags;

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

/// Addresses that nobody else has.
struct Addresses {
    start: CUdeviceptr,
    len: usize,
    is_mapped: bool,
}

impl Drop for Addresses {
    fn drop(&mut self) {
        // SAFETY: reserved by this value, and mapped as a whole if at all; whoever uses a part of it holds the value.
        unsafe {
            if self.is_mapped {
                let _ = cuMemUnmap(self.start, self.len);
            }
            let _ = cuMemAddressFree(self.start, self.len);
        }
    }
}

/// The device whose memory has an address; the driver refuses one that it does not know.
pub(crate) fn owner_of(address: u64) -> Result<CUdevice, Code> {
    let (mut device, asked) = (-1_i32, CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
    // SAFETY: for this attribute the driver writes one number of 32 bits; the address is only looked up.
    Code::check(unsafe { cuPointerGetAttribute((&raw mut device).cast(), asked, address) })?;
    Ok(device)
}

/// Memory of a device, mapped for it.
pub(crate) struct Memory {
    addresses: Addresses,
    physical: Physical,
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
        Self::map(device, Physical(handle), len)
    }

    /// Memory of `bytes` bytes that another process, or another device of this one, has exported, mapped for this device, which may be another
    /// one than the memory's. The driver refuses what is none, or not as long.
    pub(crate) fn import(device: CUdevice, descriptor: &OwnedFd, bytes: u64) -> Result<Self, Code> {
        let mut handle = 0;
        let number = std::ptr::without_provenance_mut(descriptor.as_raw_fd() as usize);
        // SAFETY: descriptors are passed as numbers in place of the pointer; the driver writes one handle.
        Code::check(unsafe { cuMemImportFromShareableHandle(&raw mut handle, number, DESCRIPTOR) })?;
        Self::map(device, Physical(handle), bytes as usize)
    }

    fn map(device: CUdevice, physical: Physical, len: usize) -> Result<Self, Code> {
        let mut start = 0;
        // SAFETY: the driver writes one address, of a range that nobody has.
        Code::check(unsafe { cuMemAddressReserve(&raw mut start, len, 0, 0, 0) })?;
        let mut addresses = Addresses { start, len, is_mapped: false };
        // SAFETY: the range was reserved a moment ago.
        Code::check(unsafe { cuMemMap(start, len, 0, physical.0, 0) })?;
        addresses.is_mapped = true;
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
        // As for `export`.
        let _ = rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC);
        Ok(descriptor)
    }

    /// A descriptor of it.
    pub(crate) fn export(&self) -> Result<OwnedFd, Code> {
        let mut number: RawFd = -1;
        // SAFETY: for this type of handle the driver writes one descriptor, which is ours.
        let descriptor = unsafe {
            Code::check(cuMemExportToShareableHandle(
                (&raw mut number).cast(),
                self.physical.0,
                DESCRIPTOR,
                0,
            ))?;
            OwnedFd::from_raw_fd(number)
        };
        // Programs that are started here get none; that it cannot be said is no reason not to export.
        let _ = rustix::io::fcntl_setfd(&descriptor, FdFlags::CLOEXEC);
        Ok(descriptor)
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
