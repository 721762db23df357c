//! Mappings: address ranges that a backend made, which live until the last owner of what was cut from them is gone, and where a network finds
//! such memory that it registers.

use crate::words::error::DeviceError;
use rustix::fd::OwnedFd;
use std::any::Any;
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

    /// A descriptor by which another process maps the same memory.
    fn export(&self) -> Result<OwnedFd, DeviceError>;

    /// Where a network finds its first byte.
    fn registrable(&self) -> Result<Registrable, DeviceError>;
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
