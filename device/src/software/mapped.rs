//! Memory of a software device: a memfd, mapped once for the device's threads, and once more where users think it is.
//!
//! What users hold are addresses of the second mapping, which nobody may read or write: a host that follows one is ended by the
//! kernel, as it is with a device's.

#![expect(unsafe_code, reason = "maps memory objects")]

use crate::memory::mapping::{Domain, Exported, Mapping, MemoryHandle, Registrable};
use crate::memory::span::Span;
use crate::words::error::DeviceError;
use crate::words::info::Info;
use rustix::fd::{AsRawFd, OwnedFd, RawFd};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, RawPid, getpid, pidfd_getfd, pidfd_open};
use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// How memory was allocated that a program has [adopted](crate::DeviceBufferMut::from_raw_parts), which says how other processes map it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AdoptedMemory {
    /// By descriptors, as what CUDA's `cuMemCreate` has made, such as PyTorch's expandable segments.
    #[default]
    Descriptors,
    /// By name, as what `cuMemAlloc` has made, and so most libraries.
    Named,
    /// Not at all, as what comes from a pool that was not made to be shared.
    Private,
}

/// The ranges of one memory object.
pub(crate) struct Ranges {
    owner: Arc<Info>,
    descriptor: OwnedFd,
    /// What the device's threads use.
    working: *mut u8,
    /// What users name; the same for pinned memory.
    seen: *mut u8,
    len: usize,
}

// SAFETY: a mapping is two address ranges that live as long as the value; it hands out addresses only, and the code that turns them
// into accesses argues for those.
unsafe impl Send for Ranges {}
// SAFETY: as above.
unsafe impl Sync for Ranges {}

/// One arena of the device, or of its pinned memory, or a part of one that was adopted.
pub(crate) struct Mapped {
    ranges: Arc<Ranges>,
    /// What of the ranges is meant.
    start: usize,
    len: usize,
    /// How it was allocated, if it was adopted.
    adopted: Option<AdoptedMemory>,
}

impl Mapped {
    /// Makes an object of so many zero bytes, all of them backed: a full host is an error here, not a bus error later.
    pub(crate) fn create(owner: &Arc<Info>, domain: Domain, bytes: u64) -> Result<Self, DeviceError> {
        let created = || -> io::Result<Self> {
            let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
            let descriptor = rustix::fs::memfd_create("chare-device", flags)?;
            rustix::fs::ftruncate(&descriptor, bytes)?;
            rustix::io::retry_on_intr(|| {
                rustix::fs::fallocate(&descriptor, FallocateFlags::empty(), 0, bytes)
            })?;
            let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
            rustix::fs::fcntl_add_seals(&descriptor, seals)?;
            Self::map(owner, domain, descriptor, bytes)
        };
        created().map_err(|error| DeviceError::refused(owner, "mapping memory", error))
    }

    /// Maps what another process has made by [`create`](Self::create).
    pub(crate) fn open(owner: &Arc<Info>, handle: MemoryHandle) -> Result<Self, DeviceError> {
        let (descriptor, bytes) = match handle {
            MemoryHandle::Name(name, bytes) => {
                (named(name).map_err(|error| DeviceError::import(owner, error))?, bytes)
            }
            MemoryHandle::Descriptors(parts) => match <[_; 1]>::try_from(parts) {
                Ok([part]) => part,
                Err(parts) => {
                    let cause = format!("its memory has one descriptor, and not {}", parts.len());
                    return Err(DeviceError::import(owner, cause));
                }
            },
        };
        let seals = rustix::fs::fcntl_get_seals(&descriptor)
            .map_err(|_| DeviceError::import(owner, "it is no memory object"))?;
        let size = rustix::fs::fstat(&descriptor)
            .map_err(|error| DeviceError::import(owner, io::Error::from(error)))?
            .st_size;
        if !seals.contains(SealFlags::SHRINK) {
            return Err(DeviceError::import(owner, "it could shrink: it has no seal against that"));
        }
        if bytes == 0 || u64::try_from(size) != Ok(bytes) {
            return Err(DeviceError::import(owner, format!("it has {size} bytes, not {bytes}")));
        }
        Self::map(owner, Domain::Device, descriptor, bytes).map_err(|error| DeviceError::import(owner, error))
    }

    fn map(owner: &Arc<Info>, domain: Domain, descriptor: OwnedFd, bytes: u64) -> io::Result<Self> {
        let len = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let map = |access| {
            // SAFETY: a fresh mapping at an address the kernel chooses aliases nothing of ours.
            unsafe { rustix::mm::mmap(std::ptr::null_mut(), len, access, MapFlags::SHARED, &descriptor, 0) }
        };
        let working: *mut u8 = map(ProtFlags::READ | ProtFlags::WRITE)?.cast();
        let seen = match domain {
            Domain::Host => Ok(working),
            Domain::Device => map(ProtFlags::empty()).map(|seen| seen.cast()),
        };
        let owner = Arc::clone(owner);
        // Without the second one, the first one goes with the value.
        let ranges = Ranges { owner, descriptor, working, seen: *seen.as_ref().unwrap_or(&working), len };
        seen?;
        Ok(Self { ranges: Arc::new(ranges), start: 0, len, adopted: None })
    }

    /// A part of memory that is there, by the address that users name.
    pub(crate) fn adopt(
        ranges: Arc<Ranges>,
        (address, bytes): (u64, u64),
        adopted: AdoptedMemory,
    ) -> Option<Self> {
        let start = address.checked_sub(ranges.seen as u64)?;
        let is_within = start.checked_add(bytes)? <= ranges.len as u64;
        let (start, len) = (start as usize, bytes as usize);
        is_within.then_some(Self { ranges, start, len, adopted: Some(adopted) })
    }

    /// What it is a part of.
    pub(crate) fn ranges(&self) -> &Arc<Ranges> {
        &self.ranges
    }
}

impl Mapping for Mapped {
    fn address(&self) -> u64 {
        self.ranges.seen as u64 + self.start as u64
    }

    fn len(&self) -> u64 {
        self.len as u64
    }

    fn export(&self, part: Range<u64>) -> Result<Exported, DeviceError> {
        let Ranges { owner, descriptor, len, .. } = &*self.ranges;
        let refused =
            |cause: &dyn ToString| DeviceError::refused(owner, "exporting an arena", cause.to_string());
        let handle = match self.adopted {
            Some(AdoptedMemory::Private) => {
                return Err(refused(&"it was adopted, and allocated in a way that shows it to nobody"));
            }
            _ if !owner.is_exportable => return Err(refused(&"it has no descriptors")),
            Some(AdoptedMemory::Named) => MemoryHandle::Name(name_of(descriptor), *len as u64),
            Some(AdoptedMemory::Descriptors) | None => {
                let descriptor = descriptor.try_clone().map_err(|error| refused(&error))?;
                MemoryHandle::descriptor(descriptor, *len as u64)
            }
        };
        Ok(Exported { handle, offset: self.start as u64 + part.start })
    }

    fn registrable(&self) -> Result<Registrable, DeviceError> {
        let Ranges { owner, working, .. } = &*self.ranges;
        if !owner.is_registrable {
            return Err(DeviceError::refused(owner, "registering memory", "networks cannot reach it"));
        }
        Ok(Registrable { address: *working as u64 + self.start as u64, dma_buf: None })
    }
}

impl Drop for Ranges {
    fn drop(&mut self) {
        // SAFETY: this value made the mappings and is the only one that unmaps them; whoever uses a part holds the arena, and thereby
        // the value.
        unsafe {
            let _ = rustix::mm::munmap(self.working.cast(), self.len);
            if self.seen != self.working {
                let _ = rustix::mm::munmap(self.seen.cast(), self.len);
            }
        }
    }
}

/// A name of a descriptor for other processes: this one, and its number here.
fn name_of(descriptor: &OwnedFd) -> [u8; MemoryHandle::NAME_BYTES] {
    let mut name = [0; MemoryHandle::NAME_BYTES];
    let numbers = [getpid().as_raw_nonzero().get(), descriptor.as_raw_fd()];
    name.chunks_exact_mut(4)
        .zip(numbers)
        .for_each(|(part, number)| part.copy_from_slice(&number.to_ne_bytes()));
    name
}

/// What a name of another process says: as with CUDA's, nobody opens his own.
fn named(name: [u8; MemoryHandle::NAME_BYTES]) -> Result<OwnedFd, String> {
    let number = |at: usize| i32::from_ne_bytes(std::array::from_fn(|byte| name[at + byte]));
    let (process, descriptor): (RawPid, RawFd) = (number(0), number(4));
    // What another process says is no number of a process until it is looked at.
    let process = Some(process).filter(|process| *process > 0).and_then(Pid::from_raw);
    let process = process.filter(|process| *process != getpid());
    let process = process.ok_or("it is no name of another process")?;
    pidfd_open(process, PidfdFlags::empty())
        .and_then(|process| pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()))
        .map_err(|error| error.to_string())
}

/// Where the device's threads find the first byte of a span; valid as long as the span.
pub(crate) fn working_address(span: &Span) -> *mut u8 {
    let mapped = mapped(span);
    mapped.ranges.working.wrapping_add(mapped.start + span.offset() as usize)
}

/// Whether a span lies in pinned memory of the host.
#[cfg(feature = "sim")]
pub(crate) fn is_pinned(span: &Span) -> bool {
    let Ranges { working, seen, .. } = &*mapped(span).ranges;
    working == seen
}

fn mapped(span: &Span) -> &Mapped {
    let mapping: &dyn Any = span.arena().mapping();
    mapping.downcast_ref().expect("streams check whose memory it is")
}
