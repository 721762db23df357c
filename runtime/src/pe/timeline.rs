//! Timeline of a PE: the spans that are open, the block of events that fills, and the names of messages.

use crate::model::call_options::MessageName;
use crate::model::ids::{MessageId, PeId};
use crate::model::topology::Topology;
use crate::node::timeline::{BLOCK_EVENTS, Block, Event, Outlet, What};
use chare_lrts::clock;
use std::cell::{Cell, RefCell};
use std::mem;

/// The longest time for which events wait in a PE that sleeps now and then: a process that is killed leaves what came before.
const FLUSH_AFTER_NS: u64 = 100_000_000;

struct Open {
    what: What,
    begun_ns: u64,
    cause: Option<MessageId>,
    /// Whether the span is only worth telling if it sent something, and did not so far.
    is_bare: bool,
}

/// The timeline of one PE.
pub(crate) struct Timeline {
    pe: PeId,
    thread: i32,
    outlet: Outlet,
    open: RefCell<Vec<Open>>,
    events: RefCell<Vec<Event>>,
    /// The message whose work begins, until a span opens for it.
    arrived: Cell<Option<MessageId>>,
    idle_since_ns: Cell<Option<u64>>,
    /// The messages that have got a name.
    named: Cell<u64>,
    dropped: Cell<u64>,
    flushed_ns: Cell<u64>,
}

impl Timeline {
    /// An empty timeline, on the PE's thread.
    pub(super) fn new(pe: PeId, outlet: Outlet) -> Self {
        Self {
            pe,
            thread: rustix::thread::gettid().as_raw_pid(),
            outlet,
            open: RefCell::default(),
            events: RefCell::default(),
            arrived: Cell::default(),
            idle_since_ns: Cell::default(),
            named: Cell::default(),
            dropped: Cell::default(),
            flushed_ns: Cell::new(clock::now_ns()),
        }
    }

    fn push(&self, event: Event) {
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

    fn end_idle(&self, now_ns: u64) {
        if let Some(since_ns) = self.idle_since_ns.take() {
            self.push(Event::Idle { since_ns, until_ns: now_ns });
        }
    }

    /// Opens a span; a bare one is forgotten unless a message leaves meanwhile.
    pub(super) fn open(&self, what: What, is_bare: bool) {
        let begun_ns = clock::now_ns();
        if !is_bare {
            self.end_idle(begun_ns);
        }
        self.open.borrow_mut().push(Open { what, begun_ns, cause: self.arrived.take(), is_bare });
    }

    /// Closes the innermost span.
    pub(super) fn close(&self) {
        let ended_ns = clock::now_ns();
        let last = self.open.borrow_mut().pop();
        if let Some(Open { what, begun_ns, cause, is_bare: false }) = last {
            self.push(Event::Span { what, begun_ns, ended_ns, cause });
        }
    }

    /// Makes names for so many messages that leave now; `None` between spans.
    fn name(&self, messages: u64) -> Option<MessageId> {
        let mut open = self.open.borrow_mut();
        let sending = open.last_mut()?;
        if mem::take(&mut sending.is_bare) {
            let begun_ns = sending.begun_ns;
            drop(open);
            self.end_idle(begun_ns);
        }
        let number = self.named.get();
        self.named.set(number + messages);
        Some(MessageId::new(self.pe, number))
    }

    /// Names a message that leaves for another PE; `None` between spans.
    pub(super) fn depart(&self, to: PeId) -> Option<MessageName> {
        let message = self.name(1)?;
        self.push(Event::Sent { message, to, at_ns: clock::now_ns() });
        Some(MessageName::One(message))
    }

    /// Names a message that leaves for each of these PEs of the job; `None` between spans.
    pub(super) fn depart_to_each(
        &self,
        topology: &Topology,
        pes: impl Iterator<Item = PeId>,
    ) -> Option<MessageName> {
        let first = self.name(topology.pes().into())?;
        let at_ns = clock::now_ns();
        for to in pes.filter(|to| *to != self.pe) {
            self.push(Event::Sent { message: first.of_pe(to), to, at_ns });
        }
        Some(MessageName::OfEach(first))
    }

    /// Notes that a message has come whose work begins, or that this work is over.
    pub(super) fn arrive(&self, message: Option<MessageName>) {
        let message = message.map(|name| match name {
            MessageName::One(message) => message,
            MessageName::OfEach(first) => first.of_pe(self.pe),
        });
        self.arrived.set(message.filter(|message| message.sender() != self.pe));
    }

    /// Notes that the PE rests.
    pub(super) fn rest(&self) {
        if self.idle_since_ns.get().is_none() {
            self.idle_since_ns.set(Some(clock::now_ns()));
        }
    }

    /// Leaves events that have waited for long with the writer.
    pub(super) fn flush(&self) {
        if !self.events.borrow().is_empty() && clock::now_ns() - self.flushed_ns.get() > FLUSH_AFTER_NS {
            self.offer(self.events.take());
        }
    }

    /// Closes all spans and leaves the last events with the writer.
    pub(super) fn end(&self) {
        while !self.open.borrow().is_empty() {
            self.close();
        }
        self.end_idle(clock::now_ns());
        self.outlet.leave(self.block(self.events.take()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_finds_no_room_is_counted_and_the_rest_goes_on() {
        let (outlet, _nobody) = Outlet::blocked(2);
        let timeline = Timeline::new(PeId(3), outlet);
        for _ in 0..4 * BLOCK_EVENTS + 1 {
            timeline.open(What::runtime("work"), false);
            timeline.close();
        }
        // Two blocks wait, two found no room, one event is in the block that fills.
        assert_eq!(timeline.dropped.get(), 2 * BLOCK_EVENTS as u64);
        assert_eq!(timeline.events.borrow().len(), 1);
    }

    #[test]
    fn a_bare_span_is_told_if_it_sends_and_nothing_is_named_between_spans() {
        let (outlet, _nobody) = Outlet::blocked(1);
        let timeline = Timeline::new(PeId(3), outlet);
        assert!(timeline.depart(PeId(1)).is_none());
        for sends in [false, true] {
            timeline.open(What::runtime("poll"), true);
            assert!(!sends || timeline.depart(PeId(1)).is_some());
            timeline.close();
        }
        let events = timeline.events.borrow();
        let [Event::Sent { message, to: PeId(1), at_ns }, Event::Span { begun_ns, ended_ns, .. }] =
            events[..]
        else {
            panic!("{events:?}");
        };
        assert_eq!(message, MessageId::new(PeId(3), 0));
        assert!((begun_ns..=ended_ns).contains(&at_ns));
    }
}
