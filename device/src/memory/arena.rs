//! Arenas: long ranges of memory, from which blocks are cut, and which are exported; and the pieces that are cut from them.
//!
//! 1. Blocks are cut in units of [`UNIT_BYTES`] and go back when their last owner is dropped, on any thread.
//! 2. An arena that was imported is cut by its exporter alone.
//! 3. Memory that was adopted is an arena of its own, which stays with whoever made it. It is exported where its maker has allocated it in a way
//!    that allows that: then part by part, each as the allocations that it lies in.

use crate::memory::mapping::{Exported, Mapping};
use crate::words::error::DeviceError;
use crate::words::info::Info;
use offset_allocator::{Allocation, Allocator};
use parking_lot::Mutex;
use std::any::Any;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Alignment and grain of blocks: what CUDA's own allocations have.
pub(crate) const UNIT_BYTES: u64 = 256;

/// Pieces that one arena can be cut into; the allocator's table takes 32 bytes for each.
const PIECES_MAX: u32 = 16_384;

/// A range of a device's memory that other processes can map. Clones are the same arena.
#[derive(Clone)]
pub struct Arena(Arc<Inner>);

struct Inner {
    owner: Arc<Info>,
    mapping: Box<dyn Mapping>,
    maker: Maker,
    /// What keeps memory that somebody else made, if it has to be kept; dropped after the mapping.
    guard: OnceLock<Box<dyn Any + Send + Sync>>,
}

/// Who made the memory of an arena.
enum Maker {
    /// The device: blocks are cut from it.
    Device(Box<Mutex<Allocator>>),
    /// The program, or a library of its own.
    Program,
    /// Another process, or another device.
    Exporter,
}

impl fmt::Debug for Arena {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Arena({:#x}, {} bytes of {})", self.address(), self.len(), self.owner())
    }
}

impl Arena {
    /// An arena to cut blocks from.
    pub(crate) fn new(owner: &Arc<Info>, mapping: Box<dyn Mapping>) -> Self {
        let units = u32::try_from(mapping.len() / UNIT_BYTES).expect("pools make none longer");
        let allocator = Box::new(Mutex::new(Allocator::with_max_allocs(units, PIECES_MAX)));
        Self::made_by(Maker::Device(allocator), owner, mapping)
    }

    /// An arena of another process, on a device of this one.
    pub(crate) fn imported(owner: &Arc<Info>, mapping: Box<dyn Mapping>) -> Self {
        Self::made_by(Maker::Exporter, owner, mapping)
    }

    /// Memory that somebody else made, who keeps it until `guard` is dropped.
    pub(crate) fn adopted(
        owner: &Arc<Info>,
        mapping: Box<dyn Mapping>,
        guard: Box<dyn Any + Send + Sync>,
    ) -> Self {
        let arena = Self::made_by(Maker::Program, owner, mapping);
        arena.keep(guard);
        arena
    }

    fn made_by(maker: Maker, owner: &Arc<Info>, mapping: Box<dyn Mapping>) -> Self {
        Self(Arc::new(Inner { owner: Arc::clone(owner), mapping, maker, guard: OnceLock::new() }))
    }

    /// Keeps `guard` until nobody has a share in the arena and it is unmapped, which may be on any thread: so its exporter hears when the memory
    /// may be freed, which a [`Name`](crate::MemoryHandle::Name) is of.
    ///
    /// # Panics
    /// If it has a guard.
    pub fn keep(&self, guard: impl Any + Send + Sync) {
        self.0.guard.set(Box::new(guard)).unwrap_or_else(|_| panic!("an arena has one guard"));
    }

    /// Whether both are handles of one arena.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// First address. The host cannot touch it.
    pub fn address(&self) -> u64 {
        self.0.mapping.address()
    }

    /// Bytes.
    pub fn len(&self) -> u64 {
        self.0.mapping.len()
    }

    /// Whether it has no byte; never true for one that a device granted.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is memory that somebody else made here ([`from_raw_parts`](crate::DeviceBufferMut::from_raw_parts)).
    pub fn is_adopted(&self) -> bool {
        matches!(self.0.maker, Maker::Program)
    }

    /// Whether it was [imported](crate::Device::import): it is exported by the process that made it, alone.
    pub fn is_imported(&self) -> bool {
        matches!(self.0.maker, Maker::Exporter)
    }

    /// By what another process [imports](crate::Device::import) this memory: [all](Self::export_part) of it.
    ///
    /// # Errors
    /// As for [`export_part`](Self::export_part).
    pub fn export(&self) -> Result<Exported, DeviceError> {
        self.export_part(0..self.len())
    }

    /// By what another process [imports](crate::Device::import) a part of this memory. Takes a few calls of the driver, and descriptors until it
    /// is dropped. Who has it can read and write all blocks of the arena; of memory that was adopted, the allocations that the part lies in.
    ///
    /// # Errors
    /// [`DeviceError::OutOfBounds`], and [`DeviceError::Refused`]: always for memory that was imported, which not every kind of device grants,
    /// and for memory that was adopted where its maker has allocated it in a way that does not allow it, or the part lies in more than
    /// [`PARTS_MAX`](crate::MemoryHandle::PARTS_MAX) allocations.
    pub fn export_part(&self, part: Range<u64>) -> Result<Exported, DeviceError> {
        check_range(&part, self.len())?;
        if self.is_imported() {
            let cause = "it was imported: pass a descriptor of the process that made it on";
            return Err(DeviceError::refused(self.owner(), "exporting an arena", cause));
        }
        self.0.mapping.export(part)
    }

    pub(crate) fn owner(&self) -> &Arc<Info> {
        &self.0.owner
    }

    pub(crate) fn mapping(&self) -> &dyn Mapping {
        &*self.0.mapping
    }

    /// Finds room for `len` bytes that nobody else has: where it starts, and what gives it back.
    pub(crate) fn cut(&self, len: u64) -> Option<(u64, Allocation)> {
        let units = u32::try_from(len.div_ceil(UNIT_BYTES).max(1)).ok()?;
        let Maker::Device(allocator) = &self.0.maker else { return None };
        let allocation = allocator.lock().allocate(units)?;
        Some((u64::from(allocation.offset) * UNIT_BYTES, allocation))
    }

    /// Takes what was cut back.
    pub(crate) fn free(&self, allocation: Allocation) {
        let Maker::Device(allocator) = &self.0.maker else { unreachable!("who cuts pieces takes them back") };
        allocator.lock().free(allocation);
    }
}

/// Whether a range lies within `len` bytes.
pub(crate) fn check_range(range: &Range<u64>, len: u64) -> Result<(), DeviceError> {
    if range.start > range.end || range.end > len {
        return Err(DeviceError::OutOfBounds { start: range.start, end: range.end, len });
    }
    Ok(())
}

/// A piece of an arena, its own until it is dropped.
pub(crate) struct Piece {
    arena: Arena,
    offset: u64,
    len: u64,
    allocation: Allocation,
}

impl Piece {
    /// Cuts `len` bytes that nobody else has from an arena, if it has room.
    pub(crate) fn cut(arena: &Arena, len: u64) -> Option<Self> {
        let (offset, allocation) = arena.cut(len)?;
        Some(Self { arena: arena.clone(), offset, len, allocation })
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.arena
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    pub(crate) fn len(&self) -> u64 {
        self.len
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} bytes from {} on of {:?}", self.len, self.offset, self.arena)
    }
}

impl Drop for Piece {
    fn drop(&mut self) {
        self.arena.free(self.allocation);
    }
}
