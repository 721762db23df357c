#![expect(unsafe_code, reason = "a type that is known by the id that is kept beside the value")]
//! Type-erased streams: a stream of any entry, cast back to the type of its entry.
//!
//! Every call asks for its stream, and `Any` would call a function to learn the type; so the type's id stands here, beside the stream.
//! [`AnyStream::new`] alone puts the two together, and nothing exchanges one without the other.

use super::bundle::AggregatedEntry;
use super::stream::{Flush, Stream};
use std::any::TypeId;

/// A stream of an entry that only its id tells.
pub(super) struct AnyStream {
    /// The id of the marker type of the stream's entry.
    entry: TypeId,
    stream: Box<dyn Flush>,
}

impl AnyStream {
    pub(super) fn new<E: AggregatedEntry>(stream: Stream<E>) -> Self {
        Self { entry: TypeId::of::<E>(), stream: Box::new(stream) }
    }

    /// The stream, if it is one of this entry.
    #[inline]
    pub(super) fn of<E: AggregatedEntry>(&mut self) -> Option<&mut Stream<E>> {
        let stream: *mut dyn Flush = &mut *self.stream;
        // SAFETY: `new` boxed a `Stream<E>` for the `E` with this id, and ids of different types differ; the box is borrowed for as long
        // as what is returned.
        (self.entry == TypeId::of::<E>()).then(|| unsafe { &mut *stream.cast::<Stream<E>>() })
    }

    pub(super) fn flush(&mut self) -> &mut dyn Flush {
        &mut *self.stream
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stream.is_empty()
    }
}
