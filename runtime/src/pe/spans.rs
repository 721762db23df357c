//! Spans of a PE's timeline, and what else is noted there: messages that leave and come, and rest.
//!
//! 1. A span is open while code of a chare runs, or the runtime works on a message. Spans nest as calls do. A panic closes them.
//! 2. A message to another PE has a name, which travels in its options: its sender notes the name, and the first span that opens because of
//!    the message notes it too. Messages inside a PE have none.
//! 3. A span of the program's own is open as long as the program says; see `pe/timeline`.
//! 4. A PE is idle from the moment in which it rests until the next span opens.
//!
//! Without `+trace` a PE has no timeline, and each of these functions is one branch; the way of plain calls does not even have that (see
//! `delivery/dispatch.rs`).

use super::Pe;
use super::timeline::Timeline;
use crate::model::call_options::CallOptions;
use crate::model::envelope::Call;
use crate::model::ids::{PeId, Target};
use crate::model::registry::Identity;
use crate::node::timeline::{Kind, Move, What};
use std::hint::cold_path;

/// A span of a PE's timeline, until it is dropped.
#[must_use]
pub(crate) struct Span<'a>(Option<&'a Timeline>);

impl Drop for Span<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(timeline) = self.0 {
            cold_path();
            timeline.close();
        }
    }
}

/// The time in which spans may open because of a message, until it is dropped.
#[must_use]
pub(crate) struct Arriving<'a>(Option<&'a Timeline>);

impl Drop for Arriving<'_> {
    fn drop(&mut self) {
        if let Some(timeline) = self.0 {
            timeline.arrive(None);
        }
    }
}

impl Pe {
    /// Whether the PE has a timeline.
    #[inline]
    pub(crate) fn has_timeline(&self) -> bool {
        self.timeline.is_some()
    }

    /// Whether calls to other PEs are seen one by one, and so go no short way: a timeline names them, or they are sampled.
    #[inline]
    pub(crate) fn sees_calls(&self) -> bool {
        self.sees_calls
    }

    /// Offers a call to the sample of calls, if there is one.
    #[cold]
    pub(crate) fn sample_call(&self, call: &Call) {
        if let Some(sample) = self.call_sample.as_ref().filter(|_| matches!(call.target, Target::Member(..)))
        {
            sample.offer(call, || {
                let caller = self.running().identity().map(|caller| caller.target);
                caller.filter(|caller| matches!(caller, Target::Member(..)))
            });
        }
    }

    /// Whether the PE has a timeline, or takes the times of entries or chares.
    pub(crate) fn is_seen(&self) -> bool {
        self.has_timeline() || self.takes_times()
    }

    /// Whether the times of entries are taken, or of chares.
    #[inline]
    pub(crate) fn takes_times(&self) -> bool {
        self.times.is_some() || self.meter.is_some()
    }

    /// Opens a span.
    #[inline(always)]
    pub(crate) fn span(&self, what: impl FnOnce() -> What) -> Span<'_> {
        let timeline = self.timeline.as_deref();
        if let Some(timeline) = timeline {
            cold_path();
            timeline.open(what(), false);
        }
        Span(timeline)
    }

    /// Opens a span that is forgotten unless a message leaves meanwhile.
    #[inline]
    pub(crate) fn span_if_it_sends(&self, name: &'static str) -> Span<'_> {
        let timeline = self.timeline.as_deref();
        if let Some(timeline) = timeline {
            cold_path();
            timeline.open(What::runtime(name), true);
        }
        Span(timeline)
    }

    /// Notes that a message has come whose work begins.
    #[inline]
    pub(crate) fn arriving(&self, options: &CallOptions) -> Arriving<'_> {
        let timeline = self.timeline.as_deref();
        if let Some(timeline) = timeline {
            cold_path();
            timeline.arrive(options.message_name());
        }
        Arriving(timeline)
    }

    /// Notes that a message leaves for another PE, and names it, unless it has a name.
    #[inline]
    pub(crate) fn depart(&self, to: PeId, options: &mut CallOptions) {
        if let Some(timeline) = &self.timeline {
            cold_path();
            if options.message_name().is_none() {
                options.set_message_name(timeline.depart(to));
            }
        }
    }

    /// Notes that a message leaves for each of these PEs, and names it.
    pub(crate) fn depart_to_each(&self, pes: impl IntoIterator<Item = PeId>, options: &mut CallOptions) {
        if let Some(timeline) = &self.timeline {
            options.set_message_name(timeline.depart_to_each(&self.node.topology, pes.into_iter()));
        }
    }

    /// Opens a span of the program's own, of this name, and returns its number; `None` without a timeline.
    #[inline]
    pub(crate) fn open_own_span(&self, name: &'static str) -> Option<u64> {
        let timeline = self.timeline.as_deref()?;
        cold_path();
        let running = self.running().as_span(Kind::Own);
        Some(timeline.open_own(What { name, ..running }))
    }

    /// Closes a span of the program's own.
    pub(crate) fn close_own_span(&self, number: u64) {
        if let Some(timeline) = &self.timeline {
            timeline.close_own(number);
        }
    }

    /// Notes a value that the program counts under this name.
    #[inline]
    pub(crate) fn note_value(&self, name: &'static str, value: f64) {
        if let Some(timeline) = &self.timeline {
            cold_path();
            timeline.count(name, value);
        }
    }

    /// Notes that an element leaves for another PE, or has come from one.
    pub(crate) fn note_move(&self, element: &Identity, way: Move) {
        if let Some(timeline) = &self.timeline {
            let name = match way {
                Move::Leaves { .. } => "leaves",
                Move::Arrives { .. } => "arrives",
            };
            timeline.note_move(What::of(Kind::Runtime, element, name), way);
        }
    }

    /// Notes that the PE rests.
    pub(crate) fn note_rest(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.rest();
        }
        if let Some(meter) = &self.meter {
            meter.rest();
        }
    }

    /// Leaves events that have waited for long with the writer. To be called before a sleep.
    pub(crate) fn flush_timeline(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.flush();
        }
    }

    /// Closes all spans and leaves the last events with the writer.
    pub(crate) fn end_timeline(&self) {
        if let Some(timeline) = &self.timeline {
            timeline.end();
        }
    }
}
