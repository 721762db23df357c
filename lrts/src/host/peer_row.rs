//! Row of a neighbour's arenas: mapped behind each other as they are announced, entered into this process's page table where they are used.
//!
//! Every node of a host maps the arenas of all others. Entered as a whole, they would take page tables that grow with the square of the
//! nodes: 4 KiB for every 2 MiB of every arena in every process, most of which a process never reads.

use crate::host::arena::reserve;
use crate::lrts::Entering;
use crate::mapping::{self, Addresses, HUGE_PAGE_BYTES, Mapping};
use rustix::fd::OwnedFd;
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// What is entered at once: what one page of the table, or one huge page, covers.
const PART_BYTES: usize = HUGE_PAGE_BYTES;

/// A part that nobody has used.
const NEW: u8 = 0;
/// One that was entered, or is none of ours to enter.
const READY: u8 = 1;
/// One of an arena that could not be mapped.
const MISSING: u8 = 2;

/// Our mappings of a neighbour's arenas.
#[derive(Debug)]
pub(crate) struct PeerRow {
    addresses: Addresses,
    /// Bytes that were announced: whole parts. Stored when their parts are known, by the thread that reads the link.
    len: AtomicUsize,
    /// By part. `READY` is written by any thread that uses one; nothing is ordered by that, because a part that is entered twice is entered all the
    /// same. The rest is ordered by `len`.
    parts: Box<[AtomicU8]>,
    /// Why an arena could not be mapped: the first reason.
    fault: OnceLock<String>,
}

impl PeerRow {
    /// A row whose first arena is so long.
    ///
    /// # Errors
    /// The kernel's: there are not so many addresses.
    pub(crate) fn new(first_bytes: usize) -> io::Result<Self> {
        let addresses = reserve(first_bytes)?;
        let parts = (0..addresses.len() / PART_BYTES).map(|_| AtomicU8::new(NEW)).collect();
        Ok(Self { addresses, len: AtomicUsize::new(0), parts, fault: OnceLock::new() })
    }

    /// Maps an arena that the neighbour sent behind those that are there, or leaves its place free: the neighbour's next one lies behind that.
    ///
    /// # Errors
    /// Invalid data, when it is shorter than said or not sealed. Whatever else is wrong with it is [`PeerRow::fault`].
    pub(crate) fn append(&self, memory: Option<&OwnedFd>, len: usize) -> io::Result<()> {
        let mapped = match memory {
            None => {
                let _ = self.addresses.skip(len);
                Err("this process has no room for its descriptor: raise `ulimit -n`".to_owned())
            }
            Some(memory) => {
                mapping::check(memory, len)?;
                self.addresses.map(memory, len).map_err(|error| format!("it cannot be mapped: {error}"))
            }
        };
        let state = match (mapped, memory) {
            // Holes around what is used would be filled at this node's expense: then the kernel enters page by page.
            (Ok(_), Some(memory)) if Mapping::is_backed(memory, len) => NEW,
            (Ok(_), _) => READY,
            (Err(cause), _) => {
                let _ = self.fault.set(cause);
                MISSING
            }
        };
        let start = self.len.load(Ordering::Relaxed);
        let end = (start + len.next_multiple_of(PART_BYTES)).min(self.addresses.len());
        for part in &self.parts[start / PART_BYTES..end / PART_BYTES] {
            part.store(state, Ordering::Relaxed);
        }
        self.len.store(end, Ordering::Release);
        Ok(())
    }

    /// Why an arena of the row is missing, if one is.
    pub(crate) fn fault(&self) -> Option<&str> {
        self.fault.get().map(String::as_str)
    }

    /// Where a range is mapped, ready to be used; `None` if it is not. One look for each part; 100 us for the first use of a part, or 1 us
    /// where its owner has made a huge page of it.
    pub(crate) fn locate(&self, start: u64, len: usize, entering: Entering) -> Option<*mut u8> {
        let start = usize::try_from(start).ok()?;
        let end = start.checked_add(len).filter(|end| *end <= self.len.load(Ordering::Acquire))?;
        for part in start / PART_BYTES..end.div_ceil(PART_BYTES) {
            match self.parts[part].load(Ordering::Relaxed) {
                NEW if entering == Entering::AtOnce => self.enter(part),
                MISSING => return None,
                _ => {}
            }
        }
        Some(self.addresses.first().wrapping_add(start))
    }

    #[cold]
    fn enter(&self, part: usize) {
        mapping::enter_pages(self.addresses.first().wrapping_add(part * PART_BYTES), PART_BYTES);
        self.parts[part].store(READY, Ordering::Relaxed);
    }
}
