//! Timeline of a PE: the spans that are open, the messages that left within them, and what else happens there.
//!
//! 1. Spans that the runtime opens nest. A span of the program's own is one among them as long as it is the innermost when it ends; one that
//!    outlives the code that opened it, or ends before one that was opened later, stands beside them, on a line of its own.
//! 2. A span is logged when it ends, and then the messages that left within it: a viewer lets their arrows start at the span that it has
//!    begun last, so they are given its begin, and the time at which they left beside.

mod log;
#[cfg(test)]
mod tests;

use crate::model::call_options::MessageName;
use crate::model::ids::{MessageId, PeId};
use crate::model::topology::Topology;
use crate::node::timeline::{Event, Move, Outlet, What};
use chare_lrts::clock;
use log::Log;
use std::cell::{Cell, RefCell};
use std::mem;

/// The most messages that wait for the end of the span that sent them, 100 KB of them: the arrows of those that come then start where the
/// viewer will have it.
const MESSAGES_WAITING_MAX: usize = 4_096;

struct Open {
    what: What,
    begun_ns: u64,
    cause: Option<MessageId>,
    /// Whether the span is only worth telling if it sent something, and did not so far.
    is_bare: bool,
    /// The number of a span of the program's own.
    own: Option<u64>,
    /// The messages that had left when it was opened, and wait for the end of an outer span.
    sent_before: usize,
}

/// A message that has left within a span that is open.
struct Sent {
    message: MessageId,
    to: PeId,
    at_ns: u64,
}

/// The timeline of one PE.
pub(crate) struct Timeline {
    pe: PeId,
    log: Log,
    open: RefCell<Vec<Open>>,
    /// Spans of the program's own whose code has been left, such as an `async` entry that waits.
    loose: RefCell<Vec<Open>>,
    sent: RefCell<Vec<Sent>>,
    /// The message whose work begins, until a span opens for it.
    arrived: Cell<Option<MessageId>>,
    idle_since_ns: Cell<Option<u64>>,
    /// The messages that have got a name.
    named: Cell<u64>,
    /// The spans of the program's own so far.
    owned: Cell<u64>,
}

impl Timeline {
    /// An empty timeline, on the PE's thread.
    pub(super) fn new(pe: PeId, outlet: Outlet) -> Self {
        Self {
            pe,
            log: Log::new(pe, outlet),
            open: RefCell::default(),
            loose: RefCell::default(),
            sent: RefCell::default(),
            arrived: Cell::default(),
            idle_since_ns: Cell::default(),
            named: Cell::default(),
            owned: Cell::default(),
        }
    }

    fn end_idle(&self, now_ns: u64) {
        let idle = self.idle_since_ns.take().and_then(|since_ns| self.log.part(since_ns, now_ns));
        if let Some((since_ns, until_ns)) = idle {
            self.log.push(Event::Idle { since_ns, until_ns });
        }
    }

    /// Opens a span; a bare one is forgotten unless a message leaves meanwhile.
    pub(super) fn open(&self, what: What, is_bare: bool) {
        let begun_ns = clock::now_ns();
        if !is_bare {
            self.end_idle(begun_ns);
        }
        let (cause, sent_before) = (self.arrived.take(), self.sent.borrow().len());
        self.open.borrow_mut().push(Open { what, begun_ns, cause, is_bare, own: None, sent_before });
    }

    /// Opens a span of the program's own; returns its number.
    pub(super) fn open_own(&self, what: What) -> u64 {
        let own = self.owned.get();
        self.owned.set(own + 1);
        let (begun_ns, sent_before) = (clock::now_ns(), self.sent.borrow().len());
        let open = Open { what, begun_ns, cause: None, is_bare: false, own: Some(own), sent_before };
        self.open.borrow_mut().push(open);
        own
    }

    /// Closes the innermost span that the runtime has opened.
    pub(super) fn close(&self) {
        let ended_ns = clock::now_ns();
        let last = {
            let mut open = self.open.borrow_mut();
            while let Some(outliving) = open.pop_if(|open| open.own.is_some()) {
                self.loose.borrow_mut().push(outliving);
            }
            open.pop()
        };
        last.into_iter().for_each(|last| self.log_span(last, ended_ns));
    }

    /// Closes a span of the program's own.
    pub(super) fn close_own(&self, number: u64) {
        let ended_ns = clock::now_ns();
        let is_it = |open: &Open| open.own == Some(number);
        let innermost = self.open.borrow_mut().pop_if(|open| is_it(open));
        if let Some(innermost) = innermost {
            return self.log_span(innermost, ended_ns);
        }
        for spans in [&self.open, &self.loose] {
            let place = spans.borrow().iter().position(is_it);
            if let Some(place) = place {
                let span = spans.borrow_mut().remove(place);
                return self.log_loose(&span, ended_ns);
            }
        }
    }

    /// Logs a span that has ended, and the messages that left within it.
    fn log_span(&self, Open { what, begun_ns, cause, is_bare, sent_before, .. }: Open, ended_ns: u64) {
        let recorded = if is_bare { None } else { self.log.part(begun_ns, ended_ns) };
        let sent = self.sent.borrow_mut().split_off(sent_before);
        let Some((from_ns, until_ns)) = recorded else { return };
        let cause = cause.filter(|_| from_ns == begun_ns);
        self.log.push(Event::Span { what, begun_ns: from_ns, ended_ns: until_ns, cause });
        for Sent { message, to, at_ns } in sent {
            self.log.push(Event::Sent { message, to, at_ns, span_ns: from_ns });
        }
    }

    /// Logs a span that stands beside the others.
    fn log_loose(&self, open: &Open, ended_ns: u64) {
        let recorded = self.log.part(open.begun_ns, ended_ns);
        if let (Some((begun_ns, ended_ns)), Some(number)) = (recorded, open.own) {
            self.log.push(Event::Beside { what: open.what, begun_ns, ended_ns, of: (self.pe, number) });
        }
    }

    /// Logs a value that the program counts.
    pub(super) fn count(&self, name: &'static str, value: f64) {
        let at_ns = clock::now_ns();
        // JSON has no other numbers.
        if value.is_finite() && self.log.has(at_ns) {
            self.log.push(Event::Value { name, value, at_ns, of: self.pe });
        }
    }

    /// Logs that an element leaves for another PE, or has come from one.
    pub(super) fn note_move(&self, what: What, way: Move) {
        let at_ns = clock::now_ns();
        if self.log.has(at_ns) {
            self.log.push(Event::Moved { what, way, at_ns });
        }
    }

    /// Makes names for so many messages that leave then; `None` between spans, and while nothing is recorded.
    fn name(&self, messages: u64, at_ns: u64) -> Option<MessageId> {
        if !self.log.has(at_ns) {
            return None;
        }
        let mut open = self.open.borrow_mut();
        let sending = open.iter_mut().rfind(|open| open.own.is_none())?;
        if mem::take(&mut sending.is_bare) {
            let begun_ns = sending.begun_ns;
            drop(open);
            self.end_idle(begun_ns);
        }
        let number = self.named.get();
        self.named.set(number + messages);
        Some(MessageId::new(self.pe, number))
    }

    fn note_sent(&self, message: MessageId, to: PeId, at_ns: u64) {
        let mut sent = self.sent.borrow_mut();
        if sent.len() < MESSAGES_WAITING_MAX {
            sent.push(Sent { message, to, at_ns });
        } else {
            self.log.push(Event::Sent { message, to, at_ns, span_ns: at_ns });
        }
    }

    /// Names a message that leaves for another PE; `None` between spans, and while nothing is recorded.
    pub(super) fn depart(&self, to: PeId) -> Option<MessageName> {
        let at_ns = clock::now_ns();
        let message = self.name(1, at_ns)?;
        self.note_sent(message, to, at_ns);
        Some(MessageName::One(message))
    }

    /// Names a message that leaves for each of these PEs of the job; `None` as for one.
    pub(super) fn depart_to_each(
        &self,
        topology: &Topology,
        pes: impl Iterator<Item = PeId>,
    ) -> Option<MessageName> {
        let at_ns = clock::now_ns();
        let first = self.name(topology.pes().into(), at_ns)?;
        for to in pes.filter(|to| *to != self.pe) {
            self.note_sent(first.of_pe(to), to, at_ns);
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
        self.log.flush();
    }

    /// Closes all spans and leaves the last events with the writer.
    pub(super) fn end(&self) {
        while !self.open.borrow().is_empty() {
            self.close();
        }
        let ended_ns = clock::now_ns();
        self.loose.take().iter().for_each(|span| self.log_loose(span, ended_ns));
        self.end_idle(ended_ns);
        self.log.end();
    }
}
