//! Places of memory: in arenas, among other memory, and as networks that register it have to know them.

use rustix::fd::OwnedFd;
use std::sync::Arc;

/// Where shareable memory lies: in which row of arenas of its node, and where in it. The arenas of a row lie behind each other in every
/// process that maps them, so that distances within a row are the same everywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Share {
    /// The row's number on its node.
    pub row: u32,
    /// First byte within the row.
    pub offset: u64,
}

/// What tells shared memory from all other: its block, and where in the block it lies. The same bytes lent by two owners are two blocks.
/// Unique among the memory that lives.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemoryId {
    pub(super) block: usize,
    pub(super) start: usize,
    pub(super) len: usize,
}

impl MemoryId {
    /// What tells the block, of which the memory is a piece or all, from all others.
    pub fn block(&self) -> usize {
        self.block
    }
}

/// How a network reaches memory of a device.
#[derive(Clone, Debug)]
pub enum DeviceMemory {
    /// At its address there are pages of the host, which the kernel can pin.
    Pages,
    /// By a dma-buf that the device's driver has made. No network that was tried has met one.
    DmaBuf {
        /// Its descriptor.
        descriptor: Arc<OwnedFd>,
        /// Where in it the memory's first byte lies.
        offset: u64,
    },
}

/// Where memory is, for a network that registers it.
#[derive(Clone, Debug)]
pub struct Place {
    /// First byte, as the network names it.
    pub address: *const u8,
    /// Bytes.
    pub len: usize,
    /// How the network reaches it, if it is memory of a device.
    pub device: Option<DeviceMemory>,
}
