//! Memory of a CUDA device, as arenas have it.
//!
//! What others have allocated and the program has adopted is shared as its allocation can be: by the driver's name of what `cuMemAlloc` has made,
//! or by descriptors of what `cuMemCreate` has, of which several may lie side by side; what comes from pools of the driver, not at all.

#![expect(unsafe_code, reason = "closes what it has opened")]

use crate::cuda::context::Context;
use crate::cuda::sys::{
    Code, HostMemory, Memory, Name, allocation_at, close_name, descriptor_at, name_at, open_name, owner_of,
    shared_by,
};
use crate::memory::mapping::{DmaBuf, Domain, Exported, Mapping, MemoryHandle, Registrable};
use crate::words::error::DeviceError;
use rustix::fd::OwnedFd;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Memory, and the context that it is given back in: fields are dropped in this order, after `drop` has entered it.
pub(crate) struct Mapped {
    memory: Kind,
    /// What the driver gave for networks, once it was asked; it stays until the memory goes.
    dma_buf: OnceLock<Arc<OwnedFd>>,
    context: Arc<Context>,
}

enum Kind {
    Device(Memory),
    Host(HostMemory),
    /// Where it starts, and its bytes: somebody else made it.
    Adopted(u64, u64),
    /// An allocation of another process, where it is open here, and its bytes.
    Opened(Name, u64, u64),
}

impl Mapped {
    fn of(memory: Kind, context: &Arc<Context>) -> Self {
        Self { memory, dma_buf: OnceLock::new(), context: Arc::clone(context) }
    }

    pub(crate) fn create(context: &Arc<Context>, domain: Domain, bytes: u64) -> Result<Self, DeviceError> {
        context.enter()?;
        let created = match domain {
            Domain::Device => {
                let device = context.primary().device();
                Memory::create(device, bytes, context.info()).map(Kind::Device)
            }
            Domain::Host => HostMemory::create(bytes).map(Kind::Host),
        };
        let kind = created.map_err(|code| {
            let (device, asked, most) = (context.info().to_string(), bytes, context.info().memory_bytes);
            match domain {
                // Other processes have taken it.
                Domain::Device if code.is_out_of_memory() => DeviceError::OutOfMemory { device, asked, most },
                _ => context.fault("mapping memory", code),
            }
        })?;
        Ok(Self::of(kind, context))
    }

    pub(crate) fn import(context: &Arc<Context>, handle: &MemoryHandle) -> Result<Self, DeviceError> {
        context.enter()?;
        let refused = |code| match context.fault("importing an arena", code) {
            lost @ DeviceError::Lost { .. } => lost,
            _ => DeviceError::import(context.info(), code),
        };
        match handle {
            MemoryHandle::Descriptors(parts) => {
                let memory = Memory::import(context.primary().device(), parts).map_err(refused)?;
                Ok(Self::of(Kind::Device(memory), context))
            }
            MemoryHandle::Name(name, bytes) => {
                let start = context.opened().open(*name, open_name).map_err(refused)?;
                let opened = Self::of(Kind::Opened(*name, start, *bytes), context);
                match allocation_at(start) {
                    Ok((_, len)) if len < *bytes => {
                        let cause = format!("it has {len} bytes, not {bytes}");
                        Err(DeviceError::import(context.info(), cause))
                    }
                    // Not every driver says so of what is another process's.
                    _ => Ok(opened),
                }
            }
        }
    }

    pub(crate) fn adopt(context: &Arc<Context>, address: u64, bytes: u64) -> Result<Self, DeviceError> {
        context.enter()?;
        let owner = owner_of(address).map_err(|code| context.fault("adopting memory", code))?;
        if owner != context.primary().device() {
            let cause = format!("{address:#x} is memory of device {owner}");
            return Err(DeviceError::refused(context.info(), "adopting memory", cause));
        }
        Ok(Self::of(Kind::Adopted(address, bytes), context))
    }

    /// By what another process finds memory that was adopted.
    fn export_adopted(&self, address: u64, bytes: u64) -> Result<Exported, DeviceError> {
        let refused = |cause: String| DeviceError::refused(self.context.info(), EXPORTING, cause);
        let fault = |code| self.context.fault(EXPORTING, code);
        match shared_by(address) {
            (true, _) => {
                let (start, len) = allocation_at(address).map_err(fault)?;
                if address.saturating_add(bytes) > start.saturating_add(len) {
                    return Err(refused("it was adopted, and reaches beyond its allocation".to_owned()));
                }
                let handle = MemoryHandle::Name(name_at(start).map_err(fault)?, len);
                Ok(Exported { handle, offset: address - start })
            }
            (false, true) => {
                let parts = allocations((address, bytes), allocation_at).map_err(fault)?;
                let parts = parts.ok_or_else(|| {
                    refused(format!(
                        "it was adopted, and lies in more than {} allocations, or has gaps",
                        MemoryHandle::PARTS_MAX
                    ))
                })?;
                let offset = address - parts.first().map_or(address, |(start, _)| *start);
                let parts = parts.into_iter().map(|(start, len)| Ok((descriptor_at(start)?, len)));
                let parts = parts.collect::<Result<_, Code>>().map_err(fault)?;
                Ok(Exported { handle: MemoryHandle::Descriptors(parts), offset })
            }
            (false, false) => {
                let cause = "it was adopted, and allocated in a way that shows it to nobody: neither by `cuMemAlloc`, nor by `cuMemCreate` with descriptors";
                Err(refused(cause.to_owned()))
            }
        }
    }
}

/// The allocations that memory lies in, one behind the other; none if there are too many, or not everywhere. `allocation_at` says of an address
/// where its allocation starts, and its bytes.
fn allocations<E>(
    (address, bytes): (u64, u64),
    allocation_at: impl Fn(u64) -> Result<(u64, u64), E>,
) -> Result<Option<Vec<(u64, u64)>>, E> {
    let (mut parts, mut place) = (Vec::new(), address);
    while place < address.saturating_add(bytes) {
        let (start, len) = allocation_at(place)?;
        let end = start.saturating_add(len);
        // The first one may start before the memory.
        let follows = start <= place && place < end && (parts.is_empty() || start == place);
        if parts.len() == MemoryHandle::PARTS_MAX || !follows {
            return Ok(None);
        }
        parts.push((start, len));
        place = end;
    }
    Ok(Some(parts))
}

/// What is asked for, in errors.
const EXPORTING: &str = "exporting an arena";

/// What is asked for, in errors.
const REGISTERING: &str = "registering memory";

impl Mapping for Mapped {
    fn address(&self) -> u64 {
        match &self.memory {
            Kind::Device(memory) => memory.address(),
            Kind::Host(memory) => memory.address(),
            Kind::Adopted(address, _) | Kind::Opened(_, address, _) => *address,
        }
    }

    fn len(&self) -> u64 {
        match &self.memory {
            Kind::Device(memory) => memory.len(),
            Kind::Host(memory) => memory.len(),
            Kind::Adopted(_, bytes) | Kind::Opened(_, _, bytes) => *bytes,
        }
    }

    fn export(&self, part: Range<u64>) -> Result<Exported, DeviceError> {
        self.context.enter()?;
        let refused = |cause: &str| DeviceError::refused(self.context.info(), EXPORTING, cause);
        match &self.memory {
            Kind::Device(_) if !self.context.info().is_exportable => {
                Err(refused("its driver exports no memory as descriptors"))
            }
            Kind::Device(memory) => {
                let parts = memory.export().map_err(|code| self.context.fault(EXPORTING, code))?;
                Ok(Exported { handle: MemoryHandle::Descriptors(parts), offset: part.start })
            }
            Kind::Host(_) => Err(refused("it is pinned")),
            Kind::Adopted(address, _) => self.export_adopted(address + part.start, part.end - part.start),
            Kind::Opened(..) => Err(refused("it is another process's")),
        }
    }

    fn registrable(&self) -> Result<Registrable, DeviceError> {
        self.context.enter()?;
        let refused = |cause: &str| DeviceError::refused(self.context.info(), REGISTERING, cause);
        let Kind::Device(memory) = &self.memory else {
            return Err(refused("it is no memory of ours on the device"));
        };
        if !self.context.info().is_registrable {
            return Err(refused(
                "the driver makes no dma-buf of it, or does not order what a network writes",
            ));
        }
        let descriptor = match self.dma_buf.get() {
            Some(descriptor) => descriptor,
            None => {
                let made = memory.dma_buf().map_err(|code| self.context.fault(REGISTERING, code))?;
                self.dma_buf.get_or_init(|| Arc::new(made))
            }
        };
        let dma_buf = DmaBuf { descriptor: Arc::clone(descriptor), offset: 0 };
        Ok(Registrable { address: memory.address(), dma_buf: Some(dma_buf) })
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // A context that is lost gives nothing back, and is asked all the same.
        let _ = self.context.enter();
        if let Kind::Opened(name, ..) = &self.memory {
            self.context.opened().close(name, |start| {
                // SAFETY: it was opened by the first of its users, of which this is the last; whoever uses a part of it holds the value.
                unsafe { close_name(start) };
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Segments of 20 bytes side by side from 100 to 200, and a gap before 300.
    fn segments(place: u64) -> Result<(u64, u64), u64> {
        match place {
            100..200 | 300..400 => Ok((place / 20 * 20, 20)),
            _ => Err(place),
        }
    }

    #[test]
    fn memory_that_lies_in_several_allocations_is_all_of_them() {
        assert_eq!(allocations((105, 10), segments), Ok(Some(vec![(100, 20)])));
        assert_eq!(allocations((105, 15), segments), Ok(Some(vec![(100, 20)])));
        assert_eq!(allocations((105, 16), segments), Ok(Some(vec![(100, 20), (120, 20)])));
        assert_eq!(allocations((119, 42), segments).map(|parts| parts.map(|parts| parts.len())), Ok(Some(4)));
        assert_eq!(allocations((190, 20), segments), Err(200), "the driver does not know what lies there");
        assert_eq!(allocations((100, 0), segments), Ok(Some(Vec::new())));
    }

    #[test]
    fn memory_of_too_many_allocations_or_with_gaps_is_not_shared() {
        let bytes = |place: u64| Ok::<_, ()>((place, 1));
        let parts = |bytes_of| allocations((7, bytes_of), bytes).map(|parts| parts.is_some());
        let most = MemoryHandle::PARTS_MAX as u64;
        assert_eq!((parts(most), parts(most + 1)), (Ok(true), Ok(false)));
        let apart = |place: u64| Ok::<_, ()>(if place < 10 { (0, 10) } else { (place + 1, 10) });
        assert_eq!(allocations((5, 10), apart), Ok(None));
        assert_eq!(allocations((5, 10), |_| Ok::<_, ()>((0, 0))), Ok(None), "it would not end");
    }
}
