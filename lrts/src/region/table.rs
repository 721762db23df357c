//! Table of regions: which memory each slot holds for its owner while peers reach it, under which key, and what has ended while somebody still
//! touches it. The keys of peers are allegations: the table of their node decides what is true.

use super::board::Notice;
use crate::ids::NodeId;
use crate::memory::{Memory, MemoryMut, Place};
use serde::{Deserialize, Serialize};

struct Entry {
    generation: u64,
    held: Held,
    /// Whether it is filled in place alone: between its bytes lie others.
    is_holey: bool,
}

/// The regions of a node, by slot.
#[derive(Default)]
pub(super) struct Table {
    entries: Vec<Option<Entry>>,
    /// Slots that hold nothing.
    free: Vec<u32>,
    /// What has ended, whose slots are not free yet.
    draining: Vec<(RegionKey, Held)>,
}

impl Table {
    /// A free slot, if fewer than `limit` are taken.
    pub(super) fn take_slot(&mut self, limit: usize) -> Option<u32> {
        if self.entries.len() - self.free.len() >= limit {
            return None;
        }
        Some(self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            (self.entries.len() - 1) as u32
        }))
    }

    /// Enters memory in a slot that was taken.
    pub(super) fn enter(&mut self, key: &RegionKey, held: Held, is_holey: bool) {
        self.entries[key.slot as usize] = Some(Entry { generation: key.generation, held, is_holey });
    }

    /// The memory of a live region.
    pub(super) fn find(&self, key: &RegionKey) -> Option<&Held> {
        self.entry(key).map(|entry| &entry.held)
    }

    /// Whether a live region is filled in place alone.
    pub(super) fn is_holey(&self, key: &RegionKey) -> bool {
        self.entry(key).is_some_and(|entry| entry.is_holey)
    }

    fn entry(&self, key: &RegionKey) -> Option<&Entry> {
        let entry = self.entries.get(key.slot as usize)?.as_ref()?;
        (entry.generation == key.generation).then_some(entry)
    }

    /// Ends a region. Its slot stays taken.
    pub(super) fn remove(&mut self, key: &RegionKey) -> Option<Held> {
        let entry = self.entries.get_mut(key.slot as usize)?;
        entry.take_if(|entry| entry.generation == key.generation).map(|entry| entry.held)
    }

    /// How many slots have ever been taken.
    #[cfg(feature = "sim")]
    pub(super) fn slots(&self) -> u32 {
        self.entries.len() as u32
    }

    /// Gives a slot back.
    pub(super) fn give_back(&mut self, slot: u32) {
        self.free.push(slot);
    }

    /// Keeps the memory of a region that has ended, until nobody touches it.
    pub(super) fn keep(&mut self, key: RegionKey, held: Held) {
        self.draining.push((key, held));
    }

    /// What was kept and nobody touches any more, whose slots are given back.
    pub(super) fn take_drained(&mut self, is_drained: impl Fn(u32) -> bool) -> Vec<(RegionKey, Held)> {
        let drained: Vec<_> = self.draining.extract_if(.., |(key, _)| is_drained(key.slot)).collect();
        self.free.extend(drained.iter().map(|(key, _)| key.slot));
        drained
    }
}

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

/// What a peer needs to reach a region. Small, serializable, copyable, unguessable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct RegionKey {
    /// The node whose memory it is.
    pub node: NodeId,
    /// Its place in that node's table.
    pub slot: u32,
    /// A random number, fresh for every registration.
    pub generation: u64,
    /// Its length in bytes, as a hint for the reader; the table decides.
    pub len: u64,
}
