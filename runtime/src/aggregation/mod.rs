//! Many small calls in one message. `proxy -> **aggregation** -> envelope -> outbox` and `dispatch -> **aggregation** -> the entry method`
//!
//! 1. The PEs stand in a grid of one, two or three dimensions (see `grid`). For each entry marked `#[entry(aggregate)]` and each
//!    collection, a PE keeps one buffer for each neighbour, which is whoever differs from it in one coordinate, and one for itself.
//! 2. A call goes into the buffer of the neighbour that is next on its way. A buffer leaves as one message, a [`Bundle`], when it is full, some time
//!    after its first call, when its PE has nothing else to do, and when the program asks ([`flush_aggregated`]).
//! 3. Who gets a bundle runs the calls of elements that live there, one after the other, and puts the others into buffers of its own. They keep
//!    the destination that was found when they were made: PEs of different beliefs would send a call to and fro.
//! 4. A call whose element does not live where it was thought to goes on as a message of its own, like any call, and whoever sent the bundle is
//!    told where the element lives.
//! 5. For quiescence a buffer is a message that was sent when its first call came, and is processed when its bundle is. So nothing is
//!    quiet while a buffer holds calls, and a PE does not rest before it has sent them.
//!
//! What the buffers of a PE hold is bounded by their number and size; bundles between nodes take credit like any message.
//!
//! After Charm++'s TRAM (Wesolowski et al., "TRAM: Optimizing fine-grained communication with topological routing and aggregation
//! of messages", ICPP 2014).

mod any_stream;
mod delivery;
mod grid;
mod items;
mod stream;

use crate::envelope::{Body, Envelope};
use crate::ids::{CollectionId, Index, PeId, Target};
use crate::location::{Location, locate};
use crate::message::Arguments;
use crate::outbox;
use crate::pe::Pe;
use crate::registry::{self, EntryMethod, EntryRegistration};
use any_stream::AnyStream;
use rustc_hash::FxHashMap;
use std::any::TypeId;
use std::time::{Duration, Instant};
use stream::{Flush, Stream};

pub(crate) use delivery::deliver;

/// An entry whose calls travel together: what `#[entry(aggregate)]` implements.
pub trait AggregatedEntry: EntryMethod {
    /// What a buffer holds before it leaves. 16 KiB are two thousand numbers: more hardly makes a call cheaper, and a PE has such a buffer for
    /// each of its neighbours.
    const BUFFER_BYTES: usize = 16 << 10;
    /// Of the grid of PEs: 1, 2 or 3.
    const DIMENSIONS: u32 = 1;
    /// How long a call waits at most on a PE that is busy with short entries: many times what a message takes, and less than a user notices.
    const FLUSH_AFTER: Duration = Duration::from_millis(1);
}

/// The content of one buffer, on its way to a neighbour.
pub(crate) struct Bundle {
    pub(crate) collection: CollectionId,
    pub(crate) entry: &'static EntryRegistration,
    /// Whose buffer it was.
    pub(crate) from: PeId,
    /// The [`items::Items`] of the entry.
    pub(crate) items: Arguments,
}

/// What can be done to the bundles of an entry without knowing its type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BundleOperations {
    decode: fn(&[u8], u32) -> Result<Arguments, String>,
    deliver: fn(&Pe, Bundle) -> Result<(), String>,
}

impl EntryRegistration {
    /// The registration of the marker type of an entry whose calls travel together.
    pub const fn of_aggregated<E: AggregatedEntry>() -> Self {
        let mut registration = Self::of::<E>();
        registration.bundles = Some(BundleOperations {
            decode: items::decode::<E::Arguments>,
            deliver: delivery::deliver_items::<E>,
        });
        registration
    }
}

/// The buffers of one PE.
#[derive(Default)]
pub(crate) struct Aggregation {
    streams: Vec<AnyStream>,
    /// By collection and the marker of the entry.
    positions: FxHashMap<(CollectionId, TypeId), usize>,
    /// Of the stream that was used last: calls come in runs.
    recent: usize,
}

impl Aggregation {
    /// The stream that was used last, if it is one of this entry.
    #[inline]
    fn recent<E: AggregatedEntry>(&mut self) -> Option<&mut Stream<E>> {
        self.streams.get_mut(self.recent)?.of()
    }

    fn stream<E: AggregatedEntry>(&mut self, pe: &Pe, collection: CollectionId) -> &mut Stream<E> {
        if self.recent::<E>().is_none_or(|stream| stream.collection() != collection) {
            let streams = &mut self.streams;
            self.recent = *self.positions.entry((collection, TypeId::of::<E>())).or_insert_with(|| {
                streams.push(AnyStream::new(Stream::<E>::new(pe, collection)));
                streams.len() - 1
            });
        }
        self.recent().expect("the position is that of a stream of this entry")
    }
}

/// Calls an entry of a member, some time soon.
#[inline]
pub(crate) fn call<E: AggregatedEntry>(
    pe: &Pe,
    collection: CollectionId,
    index: Index,
    arguments: E::Arguments,
) {
    let bytes = items::bytes_of(&arguments);
    let mut aggregation = pe.aggregation.borrow_mut();
    let recent = aggregation.recent::<E>();
    // What follows a call of the same member is all but free.
    let Some(buffer) = recent.and_then(|stream| stream.begun_for(collection, index)) else {
        drop(aggregation);
        return call_another::<E>(pe, (collection, index), arguments, bytes);
    };
    if buffer.push_same(arguments, bytes) >= E::BUFFER_BYTES {
        drop(aggregation);
        send_recent::<E>(pe);
    }
}

/// Sends the buffer of the last call.
#[cold]
fn send_recent<E: AggregatedEntry>(pe: &Pe) {
    let full = pe.aggregation.borrow_mut().recent::<E>().and_then(|stream| stream.take_recent(pe));
    send_if_full(pe, full);
}

/// Calls another member than the call before.
#[inline(never)]
fn call_another<E: AggregatedEntry>(
    pe: &Pe,
    (collection, index): (CollectionId, Index),
    arguments: E::Arguments,
    bytes: usize,
) {
    let target = Target::Member(collection, index);
    match locate(pe, target) {
        Location::At(to) if to.0 < pe.node.layout.pes() => {
            add::<E>(pe, collection, (index, to), arguments, bytes);
        }
        // It waits for news, or is refused, as a message of its own.
        Location::At(_) | Location::Unknown(_) => {
            let entry = registry::entry::<E>();
            outbox::call(pe, &entry.options, (&target, entry), arguments, None);
        }
    }
}

/// Puts a call of a member that lives there into the buffer of whoever is next on its way.
fn add<E: AggregatedEntry>(
    pe: &Pe,
    collection: CollectionId,
    (index, to): (Index, PeId),
    arguments: E::Arguments,
    bytes: usize,
) {
    let full = {
        let mut aggregation = pe.aggregation.borrow_mut();
        aggregation.stream::<E>(pe, collection).add(pe, (index, to), arguments, bytes)
    };
    send_if_full(pe, full);
}

fn send_if_full(pe: &Pe, full: Option<(PeId, Bundle)>) {
    if let Some((hop, bundle)) = full {
        send(pe, hop, bundle);
    }
}

/// Sends a buffer's content; it was counted when its first call came.
fn send(pe: &Pe, hop: PeId, bundle: Bundle) {
    let options = bundle.entry.options.clone();
    outbox::forward(pe, hop, Envelope { options, body: Body::Bundle(Box::new(bundle)) });
}

/// Sends what the caller's PE has collected of calls of entries marked `#[entry(aggregate)]`, instead of waiting for more of them. One message for each
/// buffer that holds any.
///
/// A PE does so by itself before it rests; an entry that goes on for long asks for it when others are to see what it has sent.
///
/// # Panics
/// Outside a job's entries.
pub fn flush_aggregated() {
    Pe::current(|pe| flush(pe));
}

/// Sends what all buffers hold; returns whether they held anything.
#[inline]
pub(crate) fn flush(pe: &Pe) -> bool {
    !holds_nothing(pe) && flush_if(pe, |_| true)
}

/// Sends what the buffers hold whose time has come; returns whether they held anything.
#[inline]
pub(crate) fn flush_due(pe: &Pe) -> bool {
    // Not even the clock is read where nothing waits.
    if holds_nothing(pe) {
        return false;
    }
    let now = Instant::now();
    flush_if(pe, |stream| stream.is_due(now))
}

/// A PE that polls asks again and again.
#[inline]
fn holds_nothing(pe: &Pe) -> bool {
    pe.aggregation.borrow().streams.iter().all(AnyStream::is_empty)
}

fn flush_if(pe: &Pe, is_chosen: impl Fn(&mut dyn Flush) -> bool) -> bool {
    let mut bundles = Vec::new();
    for stream in &mut pe.aggregation.borrow_mut().streams {
        let stream = stream.flush();
        if !stream.is_empty() && is_chosen(stream) {
            stream.take_all(pe, &mut bundles);
        }
    }
    let is_any = !bundles.is_empty();
    bundles.into_iter().for_each(|(hop, bundle)| send(pe, hop, bundle));
    is_any
}

/// Decodes a bundle's content, which came from another node of a job of so many PEs.
///
/// # Errors
/// When the bytes are none, in words.
pub(crate) fn decode(entry: &EntryRegistration, bytes: &[u8], pes: u32) -> Result<Arguments, String> {
    (operations(entry)?.decode)(bytes, pes)
}

fn operations(entry: &EntryRegistration) -> Result<BundleOperations, String> {
    let refusal = || format!("collected calls of {}::{}, which is not aggregated", entry.chare, entry.name);
    entry.bundles.ok_or_else(refusal)
}
