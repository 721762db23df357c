//! Memory of broadcasts: a long ordinary argument is encoded once, for all nodes that the caller's node tells, to where it stays.

#![expect(unsafe_code, reason = "a global allocator that counts what each thread takes")]

use chare::prelude::*;
use chare::{Job, ReachOptions};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

thread_local! {
    /// Bytes that the thread has taken so far, given back or not.
    static TAKEN: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has none to count with.
        let _ = TAKEN.try_with(|taken| taken.set(taken.get() + layout.size()));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(address, layout) }
    }
}

/// Longer than any frame.
const BYTES: usize = 16 << 20;

struct Member;

#[chare(array)]
impl Member {
    #[entry]
    fn new() -> Self {
        Self
    }

    #[entry]
    fn take(&mut self, bytes: Vec<u8>, done: Callback<u64>) {
        self.contribute(sum(bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>()), done);
    }
}

#[test]
fn a_long_argument_is_written_once_for_all_nodes() {
    for (nodes, nolocal) in [(2, true), (8, true), (8, false)] {
        let job = Job::in_process(nodes, 1).network(ReachOptions { nolocal, ..ReachOptions::default() });
        let code = job.run(move || async move {
            let all = MemberProxy::create(u64::from(chare::nodes()));
            chare::quiescence().await;
            let (total, done) = chare::future();
            let (bytes, before) = (vec![1; BYTES], TAKEN.get());
            all.take(bytes, done);
            let taken = TAKEN.get() - before;
            assert!(taken <= BYTES + BYTES / 10, "{nodes} nodes: the caller took {taken} bytes for {BYTES}");
            assert_eq!(total.await, BYTES as u64 * u64::from(chare::nodes()));
        });
        assert_eq!(code.unwrap(), 0);
    }
}
