//! Allocation meter: how much memory a thread holds at most while it runs something.

#![expect(unsafe_code, reason = "a global allocator that counts what each thread takes")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static MOST: Cell<usize> = const { Cell::new(0) };
}

fn count(taken: usize, freed: usize) {
    // A thread that ends frees after its locals are gone: nobody measures then.
    let _ = HELD.try_with(|held| {
        held.set(held.get().wrapping_add(taken).wrapping_sub(freed));
        MOST.with(|most| most.set(most.get().max(held.get())));
    });
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 0);
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        count(0, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, layout.size());
        // SAFETY: the caller's promise.
        unsafe { System.realloc(address, layout, size) }
    }
}

/// The most bytes that `run` held at once on this thread.
pub(super) fn most_held_bytes(run: impl FnOnce()) -> usize {
    // From a middle value, so that freeing what was there before does not wrap.
    HELD.set(usize::MAX / 2);
    MOST.set(usize::MAX / 2);
    run();
    MOST.get() - usize::MAX / 2
}
