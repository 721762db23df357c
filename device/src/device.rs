//! Device: memory, streams, and arenas that other processes have exported.

#![expect(unsafe_code, reason = "takes memory and streams whose makers promise what no type can")]

use crate::backend::Backend;
use crate::memory::arena::Arena;
use crate::memory::block::Block;
use crate::memory::mapping::{Domain, MemoryHandle};
use crate::memory::pinned::Pinned;
use crate::memory::pool::Pool;
use crate::memory::span::Span;
use crate::stream::Stream;
use crate::words::error::DeviceError;
use crate::words::info::{Info, Priority, Uuid};
use std::any::Any;
use std::ffi::c_void;
use std::fmt;
use std::sync::Arc;

/// A device, whatever its kind. Clones are the same device, with the same memory.
#[derive(Clone)]
pub struct Device(Arc<Inner>);

struct Inner {
    backend: Box<dyn Backend>,
    blocks: Pool,
    pinned: Pool,
}

impl fmt::Debug for Device {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Device({})", self.info())
    }
}

impl Device {
    pub(crate) fn new(backend: Box<dyn Backend>) -> Self {
        let info = backend.info();
        let blocks = Pool::new(info, Domain::Device, info.memory_bytes);
        let pinned = Pool::new(info, Domain::Host, info.pinned_bytes);
        Self(Arc::new(Inner { backend, blocks, pinned }))
    }

    /// What it is.
    pub fn info(&self) -> &Info {
        self.0.backend.info()
    }

    /// Memory of the device, aligned to 256 bytes, with whatever bytes were there before. Constant time while an arena has room; otherwise
    /// one is made. Rounded up by at most an eighth.
    ///
    /// # Errors
    /// [`DeviceError::OutOfMemory`], [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn allocate(&self, bytes: u64) -> Result<Block, DeviceError> {
        self.0.backend.check()?;
        let piece = self.0.blocks.cut(bytes, |bytes| self.0.backend.map(Domain::Device, bytes))?;
        Ok(Block::new(piece))
    }

    /// Memory of the host for staging. As [`allocate`](Self::allocate), from a pool with a bound.
    ///
    /// # Errors
    /// [`DeviceError::NoRoom`] until transfers have given enough back; [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn pinned(&self, bytes: u64) -> Result<Pinned, DeviceError> {
        self.0.backend.check()?;
        let piece = self.0.pinned.cut(bytes, |bytes| self.0.backend.map(Domain::Host, bytes))?;
        Ok(Pinned::new(piece))
    }

    /// How many tables of layouts were copied to the device so far. A list of places that no loops go through has a table there, which the first
    /// step by it copies, and later ones find, until others have taken its room.
    pub fn tables_copied(&self) -> u64 {
        self.0.backend.tables_copied()
    }

    /// A stream of its own.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] and [`DeviceError::Lost`].
    pub fn stream(&self, priority: Priority) -> Result<Stream, DeviceError> {
        Ok(Stream::new(self.0.backend.info(), self.0.backend.queue(priority)?))
    }

    /// A stream that somebody else made, such as `cudarc` or a library of kernels: what it is given there and here is done in the order in
    /// which it was given. `guard` is dropped with the last handle of it: it keeps the stream. What `raw` is, [`Stream::raw`] says.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] where there are no streams but the device's own, as on a software device, and [`DeviceError::Lost`].
    ///
    /// # Safety
    /// `raw` is a stream of this device, which is not being captured, and stays one until `guard` is dropped.
    pub unsafe fn adopt_stream(
        &self,
        raw: *mut c_void,
        guard: impl Any + Send + Sync,
    ) -> Result<Stream, DeviceError> {
        // SAFETY: the caller's promise.
        let queue = unsafe { self.0.backend.adopt_queue(raw, Box::new(guard))? };
        Ok(Stream::new(self.0.backend.info(), queue))
    }

    /// Memory of the device that somebody else made and keeps until `guard` is dropped, which is when nobody has a share in it any more.
    ///
    /// # Errors
    /// [`DeviceError::Refused`] if it is no memory of the device, and [`DeviceError::Lost`].
    pub(crate) fn adopt(
        &self,
        address: u64,
        bytes: u64,
        guard: Box<dyn Any + Send + Sync>,
    ) -> Result<Span, DeviceError> {
        self.0.backend.check()?;
        let mapping = self.0.backend.adopt(address, bytes)?;
        Arena::adopted(self.0.backend.info(), mapping, guard).part(0..bytes)
    }

    /// What is below its checks.
    #[cfg(test)]
    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.0.backend
    }

    /// # Errors
    /// [`DeviceError::Foreign`] if it is memory of another device.
    pub(crate) fn check_memory(&self, span: &Span) -> Result<(), DeviceError> {
        DeviceError::check_owner(self.0.backend.info(), "memory", span.arena().owner())
    }

    /// Whether it can [import](Self::import) memory of the device of the host that is this one, or another one that it reaches straight, over a
    /// link or a bus that both are on.
    pub fn reaches(&self, other: Uuid) -> bool {
        self.info().uuid == other || self.0.backend.reaches(other)
    }

    /// Maps memory that this or another process has [exported](Arena::export), of this device or of one that it [reaches](Self::reaches). Who
    /// exported it says which bytes of it are used how. It stays mapped while somebody has a share in it; what becomes of it when its exporter
    /// is gone, its [handle](MemoryHandle) says.
    ///
    /// # Errors
    /// [`DeviceError::Import`] if the handle is of no memory of such a device, or of another length, and [`DeviceError::Lost`].
    pub fn import(&self, handle: MemoryHandle) -> Result<Arena, DeviceError> {
        Ok(Arena::imported(self.0.backend.info(), self.0.backend.import(handle)?))
    }
}
