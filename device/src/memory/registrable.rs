//! Registrable memory: where a network finds memory of a device that it registers.

use rustix::fd::OwnedFd;
use std::sync::Arc;

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
