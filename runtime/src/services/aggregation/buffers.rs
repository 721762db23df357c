//! Aggregation buffers of one PE: calls go in, and bundles leave when a buffer is full, when its time has come, or when the program asks.

use super::bundle::{AggregatedEntry, Bundle, ID};
use super::items;
use super::stream::{AnyStream, Flush, Stream};
use crate::delivery::outbox;
use crate::model::envelope::Envelope;
use crate::model::ids::{CollectionId, Index, PeId, Target};
use crate::model::registry::entry;
use crate::pe::Pe;
use crate::pe::places::Location;
use chare_lrts::clock;
use rustc_hash::FxHashMap;
use slab::Slab;
use smallvec::SmallVec;
use std::any::TypeId;
use std::cell::{RefCell, RefMut};

/// The buffers of one PE.
#[derive(Default)]
pub(super) struct Aggregation {
    streams: Slab<AnyStream>,
    /// Positions of streams, by collection, each with the marker of its entry.
    positions: FxHashMap<CollectionId, SmallVec<[(TypeId, usize); 1]>>,
    /// The position of the stream that was used last: calls come in runs.
    recent: usize,
}

/// The buffers of a PE.
#[inline]
fn state(pe: &Pe) -> &RefCell<Aggregation> {
    pe.state(ID)
}

impl Aggregation {
    /// The stream that was used last, if it is one of this entry.
    #[inline]
    fn recent<E: AggregatedEntry>(&mut self) -> Option<&mut Stream<E>> {
        self.streams.get_mut(self.recent)?.of()
    }

    fn stream<E: AggregatedEntry>(&mut self, pe: &Pe, collection: CollectionId) -> &mut Stream<E> {
        if self.recent::<E>().is_none_or(|stream| stream.collection() != collection) {
            let (of_collection, marker) = (self.positions.entry(collection).or_default(), TypeId::of::<E>());
            let found = of_collection.iter().find(|(of, _)| *of == marker).map(|(_, position)| *position);
            self.recent = found.unwrap_or_else(|| {
                let position = self.streams.insert(AnyStream::new(Stream::<E>::new(pe, collection)));
                of_collection.push((marker, position));
                position
            });
        }
        self.recent().expect("the position is that of a stream of this entry")
    }
}

/// Puts a call of a member into its buffer; the call leaves some time soon.
#[inline]
pub(crate) fn call<E: AggregatedEntry>(
    pe: &Pe,
    collection: CollectionId,
    index: Index,
    arguments: E::Arguments,
) {
    let bytes = items::bytes_of(&arguments);
    let mut aggregation = state(pe).borrow_mut();
    let recent = aggregation.recent::<E>();
    // A call that follows another call of the same member is all but free.
    let Some(buffer) = recent.and_then(|stream| stream.begun_for(collection, index)) else {
        return call_another::<E>(pe, aggregation, (collection, index), arguments, bytes);
    };
    if buffer.push_same(arguments, bytes) >= E::BUFFER_BYTES {
        drop(aggregation);
        send_recent::<E>(pe);
    }
}

/// Sends the buffer of the last call.
#[cold]
fn send_recent<E: AggregatedEntry>(pe: &Pe) {
    let full = state(pe).borrow_mut().recent::<E>().and_then(|stream| stream.take_recent(pe));
    send_if_full(pe, full);
}

/// Puts a call of another member than that of the call before into its buffer; or one whose buffer has to grow.
#[inline(never)]
fn call_another<E: AggregatedEntry>(
    pe: &Pe,
    aggregation: RefMut<'_, Aggregation>,
    (collection, index): (CollectionId, Index),
    arguments: E::Arguments,
    bytes: usize,
) {
    let target = Target::Member(collection, index);
    match pe.locate(target) {
        Location::At(to) if to.0 < pe.node.topology.pes() => {
            add_to::<E>(pe, aggregation, collection, (index, to), arguments, bytes);
        }
        // The call waits for news of the member, or is refused, as a message of its own.
        Location::At(_) | Location::Unknown(_) => {
            drop(aggregation);
            let entry = entry::<E>();
            outbox::call(pe, &entry.options, (&target, entry), arguments, None);
        }
    }
}

/// Puts a call of a member that lives on PE `to` into the buffer of the next PE on the way there.
pub(super) fn add<E: AggregatedEntry>(
    pe: &Pe,
    collection: CollectionId,
    (index, to): (Index, PeId),
    arguments: E::Arguments,
    bytes: usize,
) {
    add_to::<E>(pe, state(pe).borrow_mut(), collection, (index, to), arguments, bytes);
}

#[inline]
fn add_to<E: AggregatedEntry>(
    pe: &Pe,
    mut aggregation: RefMut<'_, Aggregation>,
    collection: CollectionId,
    (index, to): (Index, PeId),
    arguments: E::Arguments,
    bytes: usize,
) {
    let full = aggregation.stream::<E>(pe, collection).add(pe, (index, to), arguments, bytes);
    drop(aggregation);
    send_if_full(pe, full);
}

#[inline]
fn send_if_full(pe: &Pe, full: Option<(PeId, Bundle)>) {
    if let Some((hop, bundle)) = full {
        send(pe, hop, bundle);
    }
}

/// Sends a buffer's content, which was counted as sent when its first call came.
fn send(pe: &Pe, hop: PeId, bundle: Bundle) {
    let options = bundle.entry.options.clone();
    outbox::forward(pe, hop, Envelope::system(options, bundle));
}

/// Sends the calls in all buffers; returns whether there were any.
pub(crate) fn flush(pe: &Pe) -> bool {
    flush_if(pe, |_| true)
}

/// Sends the calls in the buffers whose time has come; returns whether there were any.
pub(super) fn flush_due(pe: &Pe) -> bool {
    let now = clock::now();
    flush_if(pe, |stream| stream.is_due(now))
}

fn flush_if(pe: &Pe, is_chosen: impl Fn(&mut dyn Flush) -> bool) -> bool {
    let mut bundles = Vec::new();
    {
        let mut aggregation = state(pe).borrow_mut();
        for (_, stream) in &mut aggregation.streams {
            let stream = stream.flush();
            if !stream.is_empty() && is_chosen(stream) {
                stream.take_all(pe, &mut bundles);
            }
        }
        pe.attend_to(ID, aggregation.streams.iter_mut().any(|(_, stream)| !stream.flush().is_empty()));
    }
    let is_any = !bundles.is_empty();
    bundles.into_iter().for_each(|(hop, bundle)| send(pe, hop, bundle));
    is_any
}

/// Forgets the buffers of a collection that has ended. Calls that are in them leave, and are refused where they come to.
pub(super) fn end(pe: &Pe, collection: CollectionId) {
    let mut bundles = Vec::new();
    {
        let mut aggregation = state(pe).borrow_mut();
        for (_, position) in aggregation.positions.remove(&collection).unwrap_or_default() {
            aggregation.streams.remove(position).flush().take_all(pe, &mut bundles);
        }
    }
    bundles.into_iter().for_each(|(hop, bundle)| send(pe, hop, bundle));
}

/// Drops the calls in all buffers, when the job is over.
pub(super) fn clear(pe: &Pe) {
    drop(state(pe).take());
}
