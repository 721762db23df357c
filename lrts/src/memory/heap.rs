//! Block of the heap, which memory is made of without a box of its own: every small message takes some.

#![expect(unsafe_code, reason = "frees blocks of the heap, and sends them between threads")]

use std::alloc::Layout;
use std::mem::MaybeUninit;

/// A block of the heap; freed on drop.
pub(super) struct HeapBlock {
    pub(super) address: *mut u8,
    pub(super) len: usize,
}

// SAFETY: an address and a length; only `Drop` uses them, once.
unsafe impl Send for HeapBlock {}
// SAFETY: as above.
unsafe impl Sync for HeapBlock {}

impl HeapBlock {
    /// A cache line, and what the widest vector types need.
    pub(super) const ALIGNMENT: usize = 64;

    /// Room for `len` bytes that start at a multiple of [`Self::ALIGNMENT`]. The allocator is not asked for that alignment: it
    /// would write zeros over all of it, where zeroed memory of its own alignment costs nothing before it is touched.
    ///
    /// # Panics
    /// If the address space is shorter.
    pub(super) fn layout(len: usize) -> Layout {
        let room = len.checked_add(Self::ALIGNMENT);
        let layout = room.and_then(|room| Layout::from_size_align(room, 1).ok());
        layout.expect("memory fits the address space")
    }

    /// A fresh block of zeros, which costs nothing before it is touched; `None` when so much cannot be had.
    pub(super) fn zeroed(len: usize) -> Option<Self> {
        if len > isize::MAX as usize - Self::ALIGNMENT {
            return None;
        }
        // SAFETY: the layout is not empty.
        let address = unsafe { std::alloc::alloc_zeroed(Self::layout(len)) };
        (!address.is_null()).then_some(Self { address, len })
    }

    /// The first of its `len` bytes that start at a multiple of [`Self::ALIGNMENT`].
    pub(super) fn start(&self) -> *mut u8 {
        self.address.wrapping_add(self.address.align_offset(Self::ALIGNMENT))
    }

    /// All of it, while nothing else refers to it.
    pub(super) fn room(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: allocated with this length at least, and reached by this reference alone.
        unsafe { std::slice::from_raw_parts_mut(self.address.cast(), self.len) }
    }
}

impl Drop for HeapBlock {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout by whoever made the value, and freed here only.
        unsafe { std::alloc::dealloc(self.address, Self::layout(self.len)) };
    }
}
