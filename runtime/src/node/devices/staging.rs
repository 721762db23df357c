//! Staging: who may take pinned memory of a device for chunks, and who waits for it.
//!
//! 1. Chunks that leave for other nodes take half of the pinned memory at most, because they come back when those nodes say so. What is
//!    left serves chunks that arrive, which come back when the device is past them. So nodes that send to each other do not wait in a
//!    circle.
//! 2. Whoever finds no room tries again when a chunk has come back. If none is out, the program itself holds the memory.

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

/// Whither a chunk goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Out,
    In,
}

/// What tries again.
pub(crate) type Again<N> = Box<dyn FnOnce(&Arc<N>) + Send>;

struct State<N> {
    /// Chunks that have been let in.
    under_way: usize,
    /// Bytes of those that leave.
    leaving_bytes: u64,
    waiting: VecDeque<Again<N>>,
}

/// The chunks of one device.
pub(crate) struct Staging<N> {
    leaving_bytes_max: u64,
    state: Mutex<State<N>>,
}

impl<N> Staging<N> {
    /// For a device that has so much pinned memory.
    pub(crate) fn new(pinned_bytes: u64) -> Self {
        let state = State { under_way: 0, leaving_bytes: 0, waiting: VecDeque::new() };
        Self { leaving_bytes_max: pinned_bytes / 2, state: Mutex::new(state) }
    }

    /// Lets a chunk of so many bytes in, which is to take its memory now; or keeps `again` until a chunk has come back.
    pub(crate) fn enter(&self, way: Way, bytes: u64, again: impl FnOnce() -> Again<N>) -> bool {
        let mut state = self.state.lock();
        let is_first = state.leaving_bytes == 0;
        if way == Way::Out && !is_first && state.leaving_bytes + bytes > self.leaving_bytes_max {
            state.waiting.push_back(again());
            return false;
        }
        state.under_way += 1;
        state.leaving_bytes += leaving(way, bytes);
        true
    }

    /// A chunk that was let in has found no memory: keeps `again` until a chunk has come back. Returns `false` if none will.
    pub(crate) fn found_no_room(&self, way: Way, bytes: u64, again: impl FnOnce() -> Again<N>) -> bool {
        let mut state = self.state.lock();
        state.under_way -= 1;
        state.leaving_bytes -= leaving(way, bytes);
        let may_wait = state.under_way > 0;
        if may_wait {
            state.waiting.push_back(again());
        }
        may_wait
    }

    /// A chunk has given its memory back: all that wait try again.
    pub(crate) fn leave(&self, node: &Arc<N>, way: Way, bytes: u64) {
        let waiting = {
            let mut state = self.state.lock();
            state.under_way -= 1;
            state.leaving_bytes -= leaving(way, bytes);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(|again| again(node));
    }

    /// Forgets who waits, when the job is over.
    pub(crate) fn clear(&self) {
        let waiting = std::mem::take(&mut self.state.lock().waiting);
        drop(waiting);
    }
}

fn leaving(way: Way, bytes: u64) -> u64 {
    if way == Way::Out { bytes } else { 0 }
}
