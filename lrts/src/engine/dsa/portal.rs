//! Portal: the way by which descriptors get into a work queue of a DSA.
//!
//! 1. A mapped page of the device, which the kernel grants where that is safe: no system call.
//! 2. Where it does not, since INTEL-SA-01084, or the processor shows no such instruction: the kernel takes descriptors by `write`.
//! 3. A queue of one process has no way to say that it is full: whoever hands over counts. One that is shared says so.

#![expect(unsafe_code, reason = "maps the page of a device through which descriptors go")]

use super::instructions;
use super::words::Descriptor;
use rustix::fd::OwnedFd;
use rustix::mm::{MapFlags, ProtFlags};

/// Bytes of the page through which descriptors go.
const PAGE_BYTES: usize = 4096;

/// Takes descriptors. When it is dropped, the device has done with all that it took.
pub(super) trait Portal: Send + Sync {
    /// Hands a descriptor over, whose record, and whose two ends, stay until the record is filled or the portal is gone. Returns whether
    /// it was taken.
    fn submit(&self, descriptor: &Descriptor) -> bool;
}

/// Which processes a work queue serves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sharing {
    /// One at a time.
    Dedicated,
    /// Any number.
    Shared,
}

/// The page of a device, mapped.
struct MappedPortal {
    page: *mut u8,
    sharing: Sharing,
    /// The kernel lets it go, at the last, when the device has done with this process's memory (`idxd_file_dev_release`).
    _queue: OwnedFd,
}

// SAFETY: an address that stays mapped while the value lives, to which any thread may hand descriptors.
unsafe impl Send for MappedPortal {}
// SAFETY: as above.
unsafe impl Sync for MappedPortal {}

impl Portal for MappedPortal {
    fn submit(&self, descriptor: &Descriptor) -> bool {
        // SAFETY: `open` saw that the processor has the instruction; the page is mapped. What the descriptor names stays by the
        // promise of the trait.
        unsafe {
            match self.sharing {
                Sharing::Dedicated => {
                    instructions::move_directly(self.page, descriptor);
                    true
                }
                Sharing::Shared => instructions::enqueue(self.page, descriptor),
            }
        }
    }
}

impl Drop for MappedPortal {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and nobody uses it any more.
        let _ = unsafe { rustix::mm::munmap(self.page.cast(), PAGE_BYTES) };
    }
}

/// A queue that the kernel fills. Closing it is as for a mapped one.
struct WrittenPortal(OwnedFd);

impl Portal for WrittenPortal {
    fn submit(&self, descriptor: &Descriptor) -> bool {
        // `AGAIN`: no room. Whatever else it answers, the descriptor was not taken, and a processor copies.
        rustix::io::write(&self.0, bytemuck::bytes_of(descriptor)).is_ok_and(|written| written > 0)
    }
}

/// The best way into an open work queue, and its name.
pub(super) fn open(queue: OwnedFd, sharing: Sharing) -> (Box<dyn Portal>, &'static str) {
    let (moves, enqueues) = instructions::available();
    let (has_instruction, name) = match sharing {
        Sharing::Dedicated => (moves, "MOVDIR64B"),
        Sharing::Shared => (enqueues, "ENQCMD"),
    };
    if has_instruction {
        // SAFETY: a fresh mapping at an address that the kernel chooses aliases nothing of ours.
        let mapped = unsafe {
            rustix::mm::mmap(std::ptr::null_mut(), PAGE_BYTES, ProtFlags::WRITE, MapFlags::SHARED, &queue, 0)
        };
        if let Ok(page) = mapped {
            return (Box::new(MappedPortal { page: page.cast(), sharing, _queue: queue }), name);
        }
    }
    (Box::new(WrittenPortal(queue)), "write")
}
