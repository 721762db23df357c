//! Held memory: what a region keeps for its owner while peers reach it, and where that is.

use super::board::Notice;
use crate::memory::{Memory, MemoryMut, Place};

/// The memory of a region: lent for reading, or given as a put target.
#[derive(Debug)]
pub enum Held {
    /// Peers may get; the user may hold other clones and read.
    Source(Memory),
    /// Peers may get and put; nobody else reaches it but through a claim.
    Target(MemoryMut),
}

impl Held {
    pub(super) fn address(&self) -> *mut u8 {
        match self {
            Self::Source(memory) => memory.address().cast_mut(),
            Self::Target(memory) => memory.address(),
        }
    }

    pub(super) fn place(&self) -> Place {
        match self {
            Self::Source(memory) => memory.place(),
            Self::Target(memory) => memory.place(),
        }
    }

    pub(super) fn notice(&self) -> Notice {
        let (len, writable, share, is_of_device) = match self {
            Self::Source(memory) => (memory.len(), false, memory.share(), memory.is_of_device()),
            Self::Target(memory) => (memory.len(), true, memory.share(), memory.is_of_device()),
        };
        Notice { address: self.address() as u64, len: len as u64, writable, is_of_device, share }
    }
}

/// Address range of a region, for a backend that registers it with a network.
#[derive(Clone, Debug)]
pub struct Extent {
    /// Where all of it is.
    pub place: Place,
    /// Whether peers may put.
    pub writable: bool,
}
