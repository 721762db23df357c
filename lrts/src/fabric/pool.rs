//! Buffer pools: blocks of equal buffers, allocated and registered once.
//!
//! 1. A buffer of the receiving pool is either posted, then only the network touches it, or an [`Arrival`] names
//!    it, then nobody writes it. There is one arrival per buffer at most, and posting consumes it.
//! 2. A buffer of the sending pool is written while it is free, and left alone from its posting to its completion.

#![expect(unsafe_code, reason = "lends parts of one block of memory that the network fills")]

use crate::memory::MemoryMut;

/// Equal buffers in one block.
pub(crate) struct Pool {
    memory: MemoryMut,
    each: usize,
}

/// The proof that a received buffer is not posted, and how much of it was filled.
#[derive(Debug)]
pub(crate) struct Arrival {
    slot: usize,
    len: usize,
}

impl Arrival {
    /// # Safety
    /// The buffer is not posted, and no other arrival names it.
    pub(crate) unsafe fn new(slot: usize, len: usize) -> Self {
        Self { slot, len }
    }

    pub(crate) fn slot(&self) -> usize {
        self.slot
    }
}

impl Pool {
    pub(crate) fn new(count: usize, each: usize) -> Self {
        Self { memory: MemoryMut::heap_zeroed(count * each), each }
    }

    /// First byte of all, for networks that register memory.
    #[cfg(any(feature = "ofi", feature = "verbs"))]
    pub(crate) fn address(&self) -> *mut u8 {
        self.memory.address()
    }

    /// Bytes of all.
    #[cfg(any(feature = "ofi", feature = "verbs"))]
    pub(crate) fn len(&self) -> usize {
        self.memory.len()
    }

    /// First byte of one buffer.
    ///
    /// # Panics
    /// If there is no such buffer.
    pub(crate) fn buffer(&self, slot: usize) -> *mut u8 {
        assert!((slot + 1) * self.each <= self.memory.len(), "there is no buffer {slot}");
        self.memory.address().wrapping_add(slot * self.each)
    }

    /// The bytes that arrived.
    pub(crate) fn bytes(&self, arrival: &Arrival) -> &[u8] {
        // SAFETY: the buffer lies inside the block (`buffer`), whose bytes are initialised, and is not written
        // while the arrival lives (rule 1), which the borrow makes as long as the slice.
        unsafe { std::slice::from_raw_parts(self.buffer(arrival.slot), arrival.len.min(self.each)) }
    }

    /// Writes a free buffer of the sending pool. Returns how many bytes.
    ///
    /// # Safety
    /// The buffer is not posted.
    ///
    /// # Panics
    /// If the parts do not fit a buffer.
    pub(crate) unsafe fn write(&self, slot: usize, parts: &[&[u8]]) -> usize {
        let len: usize = parts.iter().map(|part| part.len()).sum();
        assert!(len <= self.each, "a message of {len} bytes");
        let mut to = self.buffer(slot);
        for part in parts {
            // SAFETY: all parts fit the buffer, which only the caller touches now; `part` is somebody else's.
            unsafe { std::ptr::copy_nonoverlapping(part.as_ptr(), to, part.len()) };
            to = to.wrapping_add(part.len());
        }
        len
    }
}
