//! Streams: the buffers of one entry of one collection on one PE; and streams of any entry, cast back to the type of theirs.

use super::bundle::{AggregatedEntry, Bundle, ID};
use super::grid::Grid;
use super::items::{Items, RUN_BYTES};
use crate::base::typed_box::TypedBox;
use crate::model::arguments::Arguments;
use crate::model::ids::{CollectionId, Index, PeId};
use crate::model::registry;
use crate::pe::Pe;
use std::time::Instant;

/// The buffers of one entry of one collection on one PE.
pub(super) struct Stream<E: AggregatedEntry> {
    collection: CollectionId,
    /// The next PE on the way to each PE.
    hops: Box<[PeId]>,
    /// The buffers by PE; those of PEs that are no neighbours stay empty.
    buffers: Box<[Buffer<E::Arguments>]>,
    /// The PEs whose buffers hold calls.
    begun: Vec<PeId>,
    /// The time of the first look that found calls in the buffers since they were last empty.
    since: Option<Instant>,
    /// The member of the run that was added to last, and the PE whose buffer holds that run, while it is there. Forgotten with every
    /// bundle: the member may move.
    recent: Option<(Index, PeId)>,
}

/// The calls that wait for one PE.
pub(super) struct Buffer<T> {
    items: Items<T>,
    bytes: usize,
    /// The number of calls in the last bundle.
    usual: usize,
}

impl<T> Buffer<T> {
    fn new() -> Self {
        Self { items: Items::default(), bytes: 0, usual: 0 }
    }

    /// Adds a call of the member of the call before, whose arguments take so many bytes. Returns how many bytes the buffer holds now.
    #[inline]
    pub(super) fn push_same(&mut self, arguments: T, bytes: usize) -> usize {
        self.items.push_same(arguments);
        self.bytes += bytes;
        self.bytes
    }

    fn take(&mut self) -> Items<T> {
        self.usual = self.items.len();
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }
}

/// Operations on a stream whose entry's type is not known.
pub(super) trait Flush {
    fn is_empty(&self) -> bool;

    /// Whether calls have waited long enough.
    fn is_due(&mut self, now: Instant) -> bool;

    /// Empties all buffers.
    fn take_all(&mut self, pe: &Pe, into: &mut Vec<(PeId, Bundle)>);
}

impl<E: AggregatedEntry> Stream<E> {
    pub(super) fn new(pe: &Pe, collection: CollectionId) -> Self {
        let pes = pe.node.topology.pes();
        let grid = Grid::new(pes, E::DIMENSIONS);
        let hop = |to| if to == pe.id { to } else { grid.next(pe.id, to) };
        Self {
            collection,
            hops: (0..pes).map(PeId).map(hop).collect(),
            buffers: (0..pes).map(|_| Buffer::new()).collect(),
            begun: Vec::new(),
            since: None,
            recent: None,
        }
    }

    pub(super) fn collection(&self) -> CollectionId {
        self.collection
    }

    /// The buffer of the last call, if that call is one of this member and another one fits: growing is out of the way of calls.
    #[inline]
    pub(super) fn begun_for(
        &mut self,
        collection: CollectionId,
        index: Index,
    ) -> Option<&mut Buffer<E::Arguments>> {
        let (recent, hop) = self.recent?;
        if recent == index && self.collection == collection {
            self.buffers.get_mut(hop.0 as usize).filter(|buffer| buffer.items.has_room())
        } else {
            None
        }
    }

    /// Empties the buffer of the last call.
    pub(super) fn take_recent(&mut self, pe: &Pe) -> Option<(PeId, Bundle)> {
        let (_, hop) = self.recent?;
        Some((hop, self.take_full(pe, hop)))
    }

    /// Takes in a call of a member that lives on PE `to` of this job; its arguments take so many bytes. Returns the bundle that has to
    /// leave now, if one has, and the PE that it goes to.
    pub(super) fn add(
        &mut self,
        pe: &Pe,
        (index, to): (Index, PeId),
        arguments: E::Arguments,
        bytes: usize,
    ) -> Option<(PeId, Bundle)> {
        let hop = self.hops[to.0 as usize];
        let buffer = &mut self.buffers[hop.0 as usize];
        if buffer.items.is_empty() {
            pe.counters.sent.add(1);
            pe.attend_to(ID, true);
            self.begun.push(hop);
            buffer.items = Items::with_room(buffer.usual);
        }
        let is_named = buffer.items.push(index, to, arguments);
        buffer.bytes += bytes + if is_named { RUN_BYTES } else { 0 };
        self.recent = Some((index, hop));
        if buffer.bytes < E::BUFFER_BYTES { None } else { self.take_recent(pe) }
    }

    fn take_full(&mut self, pe: &Pe, hop: PeId) -> Bundle {
        self.begun.retain(|begun| *begun != hop);
        if self.begun.is_empty() {
            self.since = None;
        }
        self.take(pe, hop)
    }

    fn take(&mut self, pe: &Pe, hop: PeId) -> Bundle {
        self.recent = None;
        Bundle {
            collection: self.collection,
            entry: registry::entry::<E>(),
            from: pe.id,
            items: Arguments::new(self.buffers[hop.0 as usize].take()),
        }
    }
}

impl<E: AggregatedEntry> Flush for Stream<E> {
    fn is_empty(&self) -> bool {
        self.begun.is_empty()
    }

    fn is_due(&mut self, now: Instant) -> bool {
        let since = *self.since.get_or_insert(now);
        now.saturating_duration_since(since) >= E::FLUSH_AFTER
    }

    fn take_all(&mut self, pe: &Pe, into: &mut Vec<(PeId, Bundle)>) {
        self.since = None;
        for hop in std::mem::take(&mut self.begun) {
            into.push((hop, self.take(pe, hop)));
        }
    }
}

/// A stream of an entry that only its type tells.
pub(super) struct AnyStream {
    stream: TypedBox,
    flush: fn(&mut TypedBox) -> &mut dyn Flush,
}

impl AnyStream {
    pub(super) fn new<E: AggregatedEntry>(stream: Stream<E>) -> Self {
        Self { stream: TypedBox::new(stream), flush: flush::<E> }
    }

    /// The stream, if it is one of this entry.
    #[inline]
    pub(super) fn of<E: AggregatedEntry>(&mut self) -> Option<&mut Stream<E>> {
        self.stream.get_mut()
    }

    pub(super) fn flush(&mut self) -> &mut dyn Flush {
        (self.flush)(&mut self.stream)
    }
}

fn flush<E: AggregatedEntry>(stream: &mut TypedBox) -> &mut dyn Flush {
    stream.get_mut::<Stream<E>>().expect("`new` put the function and the stream together")
}
