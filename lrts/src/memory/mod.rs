//! Memory that transfers touch: raw address, length, and the owner that keeps both valid.
//!
//! Rules:
//! 1. [`MemoryMut`] is the only handle to its bytes; its holder may write them, and a
//!    transfer that fills memory takes it by value and hands it back with its completion.
//! 2. [`Memory`] is shared and read-only; it thaws back into a [`MemoryMut`] only when it is the
//!    last handle. A transfer that reads memory holds a clone until its completion.
//! 3. Neither ever becomes a `&mut` while a region on it is registered: regions hold a handle.
//! 4. Memory of a device ([`MemoryMut::of_device`]) is an address for networks that register it; no thread of this process touches it by
//!    its handles.

#![expect(unsafe_code, reason = "owns raw memory that peers may touch: pointers, never references")]

mod heap;
pub(crate) mod huge;
pub(crate) mod kept;
mod place;

pub use place::{DeviceMemory, MemoryId, Place, Share};

use heap::HeapBlock;
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// Owner of memory, which keeps it alive; dropping it frees or unmaps the bytes.
pub type Owner = Box<dyn Any + Send + Sync>;

struct Block {
    address: *mut u8,
    len: usize,
    share: Option<Share>,
    keeper: Keeper,
}

/// What keeps a block's memory.
enum Keeper {
    /// An owner.
    Owned(Owner),
    /// The owner of bytes that others may read too, so that no handle ever becomes writable.
    Lent(Owner),
    /// The owner of memory of a device.
    Device(Box<(DeviceMemory, Owner)>),
    /// Memory of the heap, which every small message takes: without a box.
    Heap(HeapBlock),
}

impl Keeper {
    fn owner(&self) -> &(dyn Any + Send + Sync) {
        match self {
            Self::Owned(owner) | Self::Lent(owner) => &**owner,
            Self::Device(device) => &*device.1,
            Self::Heap(block) => block,
        }
    }
}

impl Block {
    /// How networks reach the memory from `start` on, if it is memory of a device.
    fn device(&self, start: usize) -> Option<DeviceMemory> {
        let Keeper::Device(device) = &self.keeper else { return None };
        Some(match &device.0 {
            DeviceMemory::Pages => DeviceMemory::Pages,
            DeviceMemory::DmaBuf { descriptor, offset } => {
                DeviceMemory::DmaBuf { descriptor: Arc::clone(descriptor), offset: offset + start as u64 }
            }
        })
    }

    fn is_of_device(&self) -> bool {
        matches!(self.keeper, Keeper::Device(_))
    }

    /// # Panics
    /// If it is memory of a device.
    #[inline]
    fn check_of_host(&self) {
        assert!(!self.is_of_device(), "no thread of the host touches memory of a device");
    }
}

// SAFETY: a block is an address, a length and an owner that is itself `Send + Sync`; the bytes are
// only reached through `Memory` and `MemoryMut`, whose rules serialise writers against readers.
unsafe impl Send for Block {}
// SAFETY: as above: `&Block` gives out the address only.
unsafe impl Sync for Block {}

/// Exclusively held memory: writable, movable into a transfer, freezable into [`Memory`].
pub struct MemoryMut(Block);

/// Shared, read-only memory. Cloning shares; nothing is copied.
#[derive(Clone)]
pub struct Memory {
    block: Arc<Block>,
    start: usize,
    len: usize,
}

impl MemoryMut {
    /// Takes charge of `len` bytes at `address` for as long as `owner` lives.
    ///
    /// # Safety
    /// Until `owner` is dropped, `address..address + len` must stay allocated, be initialised and
    /// valid for reads and writes from any thread, and be reached by nobody but this handle, except for what its holders
    /// know by other means not to touch. `share`, if given, must name the same bytes inside an arena of this node.
    pub unsafe fn from_raw_parts(address: *mut u8, len: usize, share: Option<Share>, owner: Owner) -> Self {
        Self(Block { address, len, share, keeper: Keeper::Owned(owner) })
    }

    /// Takes charge of memory of a device, which transfers of networks that can register it read and fill
    /// ([`Capabilities::device`](crate::Capabilities::device)), and nobody else: every other path refuses it.
    ///
    /// # Safety
    /// Until `owner` is dropped, what `device` says of `address..address + len` holds, and the device leaves the bytes alone, except for
    /// what its holders know by other means not to touch.
    pub unsafe fn of_device(address: *mut u8, len: usize, device: DeviceMemory, owner: Owner) -> Self {
        Self(Block { address, len, share: None, keeper: Keeper::Device(Box::new((device, owner))) })
    }

    /// Memory on the heap, zeroed, 64-byte aligned; reached by copies, never mapped by a peer. Long memory is backed by the
    /// kernel as it is touched.
    pub fn heap_zeroed(len: usize) -> Self {
        Self::try_heap_zeroed(len).unwrap_or_else(|| std::alloc::handle_alloc_error(HeapBlock::layout(len)))
    }

    /// The same; `None` when so much cannot be had.
    pub fn try_heap_zeroed(len: usize) -> Option<Self> {
        HeapBlock::zeroed(len).map(Self::of_heap)
    }

    /// Memory on the heap that has these bytes; otherwise as [`MemoryMut::heap_zeroed`].
    pub fn heap_copy_of(bytes: &[u8]) -> Self {
        let layout = HeapBlock::layout(bytes.len());
        // SAFETY: the layout is not empty.
        let start = unsafe { std::alloc::alloc(layout) };
        if start.is_null() {
            std::alloc::handle_alloc_error(layout);
        }
        let block = HeapBlock { address: start, len: bytes.len() };
        // SAFETY: a fresh block with `ALIGNMENT` bytes more than these: fewer than that lie before its start.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.start(), bytes.len()) };
        Self::of_heap(block)
    }

    /// The bytes of a block of the heap, all of which are initialised.
    fn of_heap(block: HeapBlock) -> Self {
        Self(Block { address: block.start(), len: block.len, share: None, keeper: Keeper::Heap(block) })
    }

    /// Memory made of a byte vector, which [`MemoryMut::into_owner`] gives back.
    pub fn from_vec(mut bytes: Vec<u8>) -> Self {
        let (address, len) = (bytes.as_mut_ptr(), bytes.len());
        // SAFETY: the vector moves into the owner untouched, its heap block stays where it is.
        unsafe { Self::from_raw_parts(address, len, None, Box::new(bytes)) }
    }

    /// First byte.
    pub fn address(&self) -> *mut u8 {
        self.0.address
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.0.len
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> bool {
        self.0.len == 0
    }

    /// Where it lies in an arena, if a peer can map it.
    pub fn share(&self) -> Option<Share> {
        self.0.share
    }

    /// Where it is, for a network that registers it.
    pub fn place(&self) -> Place {
        Place { address: self.0.address, len: self.0.len, device: self.0.device(0) }
    }

    /// Whether it is memory of a device.
    pub fn is_of_device(&self) -> bool {
        self.0.is_of_device()
    }

    /// Reads in place.
    ///
    /// # Panics
    /// If it is memory of a device.
    pub fn as_slice(&self) -> &[u8] {
        self.0.check_of_host();
        // SAFETY: exclusive handle (rule 1), valid and initialised by `from_raw_parts`.
        unsafe { std::slice::from_raw_parts(self.0.address, self.0.len) }
    }

    /// Writes in place.
    ///
    /// # Panics
    /// If it is memory of a device.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.0.check_of_host();
        // SAFETY: exclusive handle (rule 1), valid and initialised by `from_raw_parts`.
        unsafe { std::slice::from_raw_parts_mut(self.0.address, self.0.len) }
    }

    /// Gives up writing for sharing. Copies nothing.
    pub fn freeze(self) -> Memory {
        let len = self.0.len;
        Memory { block: Arc::new(self.0), start: 0, len }
    }

    /// The owner, for a caller that knows its type and wants its allocation back.
    pub fn into_owner(self) -> Owner {
        match self.0.keeper {
            Keeper::Owned(owner) | Keeper::Lent(owner) => owner,
            Keeper::Device(device) => device.1,
            Keeper::Heap(block) => Box::new(block),
        }
    }

    /// Looks at the owner without taking it.
    pub fn owner(&self) -> &(dyn Any + Send + Sync) {
        self.0.keeper.owner()
    }
}

impl Memory {
    /// Shares `len` bytes at `address`, which belong to somebody else, for as long as `owner` lives. Never
    /// thaws.
    ///
    /// # Safety
    /// Until `owner` is dropped, `address..address + len` must stay allocated, be initialised and valid for
    /// reads from any thread, and be written by nobody, except for what its holders know by other means not to touch.
    /// `share`, if given, must name the same bytes inside an arena of this node.
    pub unsafe fn lent(address: *const u8, len: usize, share: Option<Share>, owner: Owner) -> Self {
        let block = Block { address: address.cast_mut(), len, share, keeper: Keeper::Lent(owner) };
        Self { block: Arc::new(block), start: 0, len }
    }

    /// First byte; readable until the last clone is dropped.
    pub fn address(&self) -> *const u8 {
        self.block.address.wrapping_add(self.start)
    }

    /// Bytes.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it holds no byte.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// What tells it from all other memory, for as long as a handle lives.
    pub fn id(&self) -> MemoryId {
        MemoryId { block: Arc::as_ptr(&self.block).addr(), start: self.start, len: self.len }
    }

    /// Where it lies in an arena, if a peer can map it.
    pub fn share(&self) -> Option<Share> {
        self.block.share.map(|share| Share { offset: share.offset + self.start as u64, ..share })
    }

    /// Where it is, for a network that registers it.
    pub fn place(&self) -> Place {
        Place { address: self.address(), len: self.len, device: self.block.device(self.start) }
    }

    /// Whether it is memory of a device.
    pub fn is_of_device(&self) -> bool {
        self.block.is_of_device()
    }

    /// Reads in place.
    ///
    /// # Panics
    /// If it is memory of a device.
    pub fn as_slice(&self) -> &[u8] {
        self.block.check_of_host();
        // SAFETY: valid and initialised by `from_raw_parts`; nobody writes while a shared handle
        // lives (rule 2); `start + len` lies inside the block (`slice` checks it).
        unsafe { std::slice::from_raw_parts(self.address(), self.len) }
    }

    /// A part of it, shared.
    ///
    /// # Panics
    /// If `start + len` exceeds the length.
    pub fn slice(&self, start: usize, len: usize) -> Self {
        self.clone().into_slice(start, len)
    }

    /// A part of it, in the place of this handle.
    ///
    /// # Panics
    /// If `start + len` exceeds the length.
    pub fn into_slice(self, start: usize, len: usize) -> Self {
        assert!(start.checked_add(len).is_some_and(|end| end <= self.len), "slice outside the memory");
        Self { start: self.start + start, len, ..self }
    }

    /// How many handles share the block, this one among them.
    pub fn holders(&self) -> usize {
        Arc::strong_count(&self.block)
    }

    /// Writable again, if this is the last handle and covers the whole block; else itself back.
    ///
    /// # Errors
    /// The same handle, when another clone, a region or a transfer still holds the bytes, or when they are
    /// lent by somebody else.
    pub fn thaw(self) -> Result<MemoryMut, Self> {
        let Self { block, start, len } = self;
        if matches!(block.keeper, Keeper::Lent(_)) || len != block.len {
            return Err(Self { block, start, len });
        }
        Arc::try_unwrap(block).map(MemoryMut).map_err(|block| Self { block, start, len })
    }

    /// Looks at the owner without taking it.
    pub fn owner(&self) -> &(dyn Any + Send + Sync) {
        self.block.keeper.owner()
    }
}

impl fmt::Debug for MemoryMut {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "MemoryMut({} bytes)", self.0.len)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Memory({} bytes)", self.len)
    }
}

#[cfg(test)]
mod tests;
