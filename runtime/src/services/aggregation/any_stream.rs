//! Type-erased streams: a stream of any entry, cast back to the type of its entry.

use super::bundle::AggregatedEntry;
use super::stream::{Flush, Stream};
use crate::base::typed_box::TypedBox;

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
