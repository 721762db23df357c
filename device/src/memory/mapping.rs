//! Mappings: address ranges that a backend made, which live until the last owner of what was cut from them is gone, by what other processes
//! map them, and where a network finds such memory that it registers.

use crate::words::error::DeviceError;
use rustix::fd::OwnedFd;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Where bytes lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Domain {
    /// In pinned memory of the host.
    Host,
    /// On a device.
    Device,
}

/// One range of memory, as its backend has it. Dropping it unmaps.
pub(crate) trait Mapping: Any + Send + Sync {
    /// First address, as commands and the user's own kernels name it.
    fn address(&self) -> u64;

    /// Bytes.
    fn len(&self) -> u64;

    /// By what another process maps a part of it.
    fn export(&self, part: Range<u64>) -> Result<Exported, DeviceError>;

    /// Where a network finds its first byte.
    fn registrable(&self) -> Result<Registrable, DeviceError>;
}

/// What names memory of a device to another process of the host, which [imports](crate::Device::import) it.
#[derive(Debug)]
pub enum MemoryHandle {
    /// A descriptor of each allocation that the memory is made of, one behind the other, and its bytes. They pass as descriptors do. The memory
    /// stays while a process has it mapped, whoever frees it.
    Descriptors(Vec<(OwnedFd, u64)>),
    /// The driver's own name of one allocation, and its bytes. It passes as bytes do, and says nothing to the process that it is of. Nobody may
    /// have it mapped any more when the allocation is freed.
    Name([u8; MemoryHandle::NAME_BYTES], u64),
}

impl MemoryHandle {
    /// Bytes of a driver's name: what CUDA's handles have.
    pub const NAME_BYTES: usize = 64;

    /// Allocations that memory is made of at most, where it has a descriptor for each: either process has them all open while one maps it. 320 MiB
    /// of the segments that PyTorch maps side by side.
    pub const PARTS_MAX: usize = 16;

    /// One allocation of so many bytes.
    pub fn descriptor(descriptor: OwnedFd, bytes: u64) -> Self {
        Self::Descriptors(vec![(descriptor, bytes)])
    }

    /// How many bytes it names.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Descriptors(parts) => parts.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes)),
            Self::Name(_, bytes) => *bytes,
        }
    }
}

/// An arena, or a part of it, as other processes find it.
#[derive(Debug)]
pub struct Exported {
    /// What they import.
    pub handle: MemoryHandle,
    /// Where in that it starts: memory that was adopted is a part of what its maker has allocated.
    pub offset: u64,
}

/// Memory of a device as a network registers it, which then reads and writes it without the host. It says where the memory is; that
/// nobody else uses it meanwhile, whoever hands it to the network sees to.
#[derive(Debug, Clone)]
pub struct Registrable {
    /// Its first byte, as the network names it. Where there is no dma-buf, there are pages of the host at this address, which the kernel can
    /// pin; no thread of the host touches them.
    pub address: u64,
    /// The dma-buf that has it.
    pub dma_buf: Option<DmaBuf>,
}

/// A place in a dma-buf of the device's driver.
#[derive(Debug, Clone)]
pub struct DmaBuf {
    /// Its descriptor.
    pub descriptor: Arc<OwnedFd>,
    /// Where in it the memory starts.
    pub offset: u64,
}

impl Registrable {
    /// The same memory from so many bytes on.
    pub(crate) fn behind(self, bytes: u64) -> Self {
        let dma_buf = self.dma_buf.map(|dma_buf| DmaBuf { offset: dma_buf.offset + bytes, ..dma_buf });
        Self { address: self.address + bytes, dma_buf }
    }
}
