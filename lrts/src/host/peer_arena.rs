//! Arena of a neighbour: mapped when it is announced, entered into this process's page table where it is used.
//!
//! Every node of a host maps the arenas of all others. Entered as a whole, they would take page tables that grow with the square of the
//! nodes: 4 KiB for every 2 MiB of every arena in every process, most of which a process never reads.

use crate::mapping::{HUGE_PAGE_BYTES, Mapping};
use rustix::fd::OwnedFd;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// What is entered at once: what one page of the table, or one huge page, covers.
const PART_BYTES: usize = HUGE_PAGE_BYTES;

/// Our mapping of a neighbour's arena.
#[derive(Debug)]
pub(crate) struct PeerArena {
    mapping: Mapping,
    /// By part: whether it was entered, or is none of ours to enter. Written by any thread that uses a part; nothing is ordered by it, because a part that is entered
    /// twice is entered all the same.
    entered: Box<[AtomicBool]>,
}

impl PeerArena {
    /// Maps an arena that a neighbour sent.
    ///
    /// # Errors
    /// As [`Mapping::open`].
    pub(crate) fn open(memory: &OwnedFd, len: usize) -> io::Result<Self> {
        let mapping = Mapping::open(memory, len)?;
        // Holes around what is used would be filled at this node's expense: then the kernel enters page by page.
        let is_left_to_kernel = !Mapping::is_backed(memory, len);
        let entered = (0..len.div_ceil(PART_BYTES)).map(|_| AtomicBool::new(is_left_to_kernel)).collect();
        Ok(Self { mapping, entered })
    }

    /// Bytes.
    pub(crate) fn len(&self) -> usize {
        self.mapping.len()
    }

    /// Where a range is mapped, ready to be used; `None` if it lies outside. One look for each part; 100 us for the first use of a
    /// part, or 1 us where its owner has made a huge page of it.
    pub(crate) fn locate(&self, start: u64, len: usize) -> Option<*mut u8> {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(len).filter(|end| *end <= self.len())?;
        for part in start / PART_BYTES..end.div_ceil(PART_BYTES) {
            if !self.entered[part].load(Ordering::Relaxed) {
                self.enter(part);
            }
        }
        Some(self.mapping.address().wrapping_add(start))
    }

    #[cold]
    fn enter(&self, part: usize) {
        let start = part * PART_BYTES;
        self.mapping.populate(start, PART_BYTES.min(self.len() - start));
        self.entered[part].store(true, Ordering::Relaxed);
    }
}
