//! Staging: who may take pinned memory of a device for chunks, and who waits for it.
//!
//! 1. Chunks that leave for other nodes take half of the pinned memory at most, because they come back when those nodes say so. What is
//!    left serves chunks that arrive, which come back when the device is past them. So nodes that send to each other do not wait in a
//!    circle.
//! 2. Whoever finds no room tries again when a chunk has come back. If none is out, the program's own commands hold the memory, or a chunk
//!    came back just now: whoever finds no room then tries again soon, for [`PATIENCE`].

use chare_device::Way;
use chare_lrts::clock;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the program may hold all pinned memory while chunks wait: longer than copies take that a stream has been given, for a program
/// that keeps what it has staged waits for its own end.
const PATIENCE: Duration = Duration::from_secs(10);

/// What becomes of a chunk that finds no memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoRoom {
    /// It is kept until a chunk has come back.
    Waits,
    /// Nothing tells when memory comes back: it is to be tried again soon.
    TriedAgain,
    /// It has been tried for long enough.
    GivenUp,
}

/// What tries again.
pub(crate) type Again<N> = Box<dyn FnOnce(&Arc<N>) + Send>;

struct StagedChunks<N> {
    /// Chunks that have been let in.
    under_way: usize,
    /// Bytes of those that leave.
    leaving_bytes: u64,
    waiting: VecDeque<Again<N>>,
    /// Since when no chunk is out and there is no memory for one.
    starved_since: Option<Instant>,
}

/// The chunks of one device.
pub(crate) struct Staging<N> {
    leaving_bytes_max: u64,
    state: Mutex<StagedChunks<N>>,
}

impl<N> Staging<N> {
    /// For a device that has so much pinned memory.
    pub(crate) fn new(pinned_bytes: u64) -> Self {
        let state =
            StagedChunks { under_way: 0, leaving_bytes: 0, waiting: VecDeque::new(), starved_since: None };
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

    /// Lets in what leaves now or not at all; returns whether it may.
    pub(crate) fn try_enter(&self, bytes: u64) -> bool {
        let mut state = self.state.lock();
        let fits = state.leaving_bytes + bytes <= self.leaving_bytes_max;
        if fits {
            state.under_way += 1;
            state.leaving_bytes += bytes;
        }
        fits
    }

    /// A chunk that was let in has found no memory: keeps `again` until a chunk has come back, if one is out.
    pub(crate) fn found_no_room(&self, way: Way, bytes: u64, again: impl FnOnce() -> Again<N>) -> NoRoom {
        let mut state = self.state.lock();
        state.under_way -= 1;
        state.leaving_bytes -= leaving(way, bytes);
        if state.under_way > 0 {
            state.waiting.push_back(again());
            return NoRoom::Waits;
        }
        let since = *state.starved_since.get_or_insert_with(clock::now);
        if clock::since(since) < PATIENCE { NoRoom::TriedAgain } else { NoRoom::GivenUp }
    }

    /// A chunk has given its memory back: all that wait try again.
    pub(crate) fn leave(&self, node: &Arc<N>, way: Way, bytes: u64) {
        let waiting = {
            let mut state = self.state.lock();
            state.under_way -= 1;
            state.leaving_bytes -= leaving(way, bytes);
            state.starved_since = None;
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
