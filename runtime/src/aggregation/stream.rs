//! The buffers of one entry of one collection on one PE.

use super::grid::Grid;
use super::items::{Items, RUN_BYTES};
use super::{AggregatedEntry, Bundle};
use crate::ids::{CollectionId, Index, PeId};
use crate::message::Arguments;
use crate::pe::Pe;
use crate::registry;
use std::any::Any;
use std::time::Instant;

/// See the file's head.
pub(super) struct Stream<E: AggregatedEntry> {
    collection: CollectionId,
    /// Who is next on the way to each PE.
    hops: Box<[PeId]>,
    /// By PE; those of PEs that are no neighbours stay empty.
    buffers: Box<[Buffer<E::Arguments>]>,
    /// Whose buffers hold calls.
    begun: Vec<PeId>,
    /// When a look found that they do, if none found that they are empty since.
    since: Option<Instant>,
    /// Whom the last run is for that was added to, and in whose buffer it is, while it is there. Forgotten with every bundle: the member may move.
    recent: Option<(Index, PeId)>,
}

struct Buffer<T> {
    items: Items<T>,
    bytes: usize,
    /// How many calls came together the last time.
    usual: usize,
}

impl<T> Buffer<T> {
    fn new() -> Self {
        Self { items: Items::default(), bytes: 0, usual: 0 }
    }

    fn take(&mut self) -> Items<T> {
        self.usual = self.items.len();
        self.bytes = 0;
        std::mem::take(&mut self.items)
    }
}

/// A stream of any entry.
pub(super) trait AnyStream: Any {
    fn is_empty(&self) -> bool;

    /// Whether calls have waited long enough.
    fn is_due(&mut self, now: Instant) -> bool;

    /// Empties all buffers.
    fn take_all(&mut self, pe: &Pe, into: &mut Vec<(PeId, Bundle)>);
}

impl<E: AggregatedEntry> Stream<E> {
    pub(super) fn new(pe: &Pe, collection: CollectionId) -> Self {
        let pes = pe.node.layout.pes();
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

    /// Takes a call in, whose arguments take so many bytes, if it is for the same member as the call before. Returns what has to leave for that,
    /// and to whom.
    ///
    /// # Errors
    /// The arguments, when it is for another member.
    #[inline]
    pub(super) fn follow(
        &mut self,
        pe: &Pe,
        index: Index,
        arguments: E::Arguments,
        bytes: usize,
    ) -> Result<Option<(PeId, Bundle)>, E::Arguments> {
        match self.recent {
            Some((recent, hop)) if recent == index => {
                let buffer = &mut self.buffers[hop.0 as usize];
                buffer.items.push_same(arguments);
                buffer.bytes += bytes;
                Ok(self.take_if_full(pe, hop))
            }
            _ => Err(arguments),
        }
    }

    /// Takes in any call of a member that lives on a PE of this job.
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
            self.begun.push(hop);
            buffer.items = Items::with_room(buffer.usual);
        }
        let is_named = buffer.items.push(index, to, arguments);
        buffer.bytes += bytes + if is_named { RUN_BYTES } else { 0 };
        self.recent = Some((index, hop));
        self.take_if_full(pe, hop)
    }

    #[inline]
    fn take_if_full(&mut self, pe: &Pe, hop: PeId) -> Option<(PeId, Bundle)> {
        let is_full = self.buffers[hop.0 as usize].bytes >= E::BUFFER_BYTES;
        is_full.then(|| (hop, self.take_full(pe, hop)))
    }

    #[inline(never)]
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

impl<E: AggregatedEntry> AnyStream for Stream<E> {
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
