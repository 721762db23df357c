//! Log of a PE's timeline: the block of events that fills, what of them the trace is to have, and how many found no room.

use crate::model::ids::PeId;
use crate::node::timeline::{BLOCK_EVENTS, Block, Event, Outlet};
use chare_lrts::clock;
use std::cell::{Cell, RefCell};
use std::mem;

/// The longest time for which events wait in a PE that sleeps now and then: a process that is killed leaves what came before.
const FLUSH_AFTER_NS: u64 = 100_000_000;

/// The events of one PE that are not with the writer yet.
pub(super) struct Log {
    pe: PeId,
    thread: i32,
    outlet: Outlet,
    pub(super) events: RefCell<Vec<Event>>,
    pub(super) dropped: Cell<u64>,
    flushed_ns: Cell<u64>,
}

impl Log {
    /// An empty log, on the PE's thread.
    pub(super) fn new(pe: PeId, outlet: Outlet) -> Self {
        Self {
            pe,
            thread: rustix::thread::gettid().as_raw_pid(),
            outlet,
            events: RefCell::default(),
            dropped: Cell::default(),
            flushed_ns: Cell::new(clock::now_ns()),
        }
    }

    /// Whether the trace is to have what happens then.
    pub(super) fn has(&self, at_ns: u64) -> bool {
        self.outlet.recording.has(at_ns)
    }

    /// The part that the trace is to have of what lasted from then to then.
    pub(super) fn part(&self, begun_ns: u64, ended_ns: u64) -> Option<(u64, u64)> {
        self.outlet.recording.part(begun_ns, ended_ns)
    }

    pub(super) fn push(&self, event: Event) {
        let mut events = self.events.borrow_mut();
        if events.len() == BLOCK_EVENTS {
            self.offer(mem::take(&mut *events));
        }
        if events.capacity() == 0 {
            events.reserve_exact(BLOCK_EVENTS);
        }
        events.push(event);
    }

    fn offer(&self, events: Vec<Event>) {
        let block = self.block(events);
        if let Err(Block { events, dropped, .. }) = self.outlet.offer(block) {
            self.dropped.set(dropped + events.len() as u64);
        }
        self.flushed_ns.set(clock::now_ns());
    }

    fn block(&self, events: Vec<Event>) -> Block {
        Block { pe: self.pe, thread: self.thread, events, dropped: self.dropped.take() }
    }

    /// Leaves events that have waited for long with the writer.
    pub(super) fn flush(&self) {
        if !self.events.borrow().is_empty() && clock::now_ns() - self.flushed_ns.get() > FLUSH_AFTER_NS {
            self.offer(self.events.take());
        }
    }

    /// Leaves the last events with the writer.
    pub(super) fn end(&self) {
        self.outlet.leave(self.block(self.events.take()));
    }
}
