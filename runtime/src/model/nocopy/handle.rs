//! Handles of the Direct API: the key and the range by which a peer reaches registered elements.

use crate::model::callback::ErasedCallback;
use crate::model::nocopy::Element;
use chare_lrts::RegionKey;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;

/// A range of registered elements that any PE may read. Small, copyable, serializable, reusable.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SourceHandle<T> {
    pub(crate) range: RemoteRange,
    pub(crate) elements: PhantomData<fn() -> T>,
}

/// A range of registered elements that any PE may write, and read. Small, copyable, serializable, reusable.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TargetHandle<T> {
    pub(crate) range: RemoteRange,
    pub(crate) elements: PhantomData<fn() -> T>,
}

/// A range of a registered region of some node.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RemoteRange {
    pub(crate) key: RegionKey,
    /// The first element of the range, counted in elements.
    start: u64,
    pub(crate) len: u64,
    pub(crate) notify: Option<ErasedCallback>,
}

impl RemoteRange {
    pub(crate) fn new(key: RegionKey, element_bytes: usize, notify: Option<ErasedCallback>) -> Self {
        Self { key, start: 0, len: key.len / element_bytes as u64, notify }
    }

    fn slice(self, range: Range<usize>) -> Self {
        let (start, end) = (range.start as u64, range.end as u64);
        assert!(
            start <= end && end <= self.len,
            "elements {start}..{end} of a handle to {} elements",
            self.len
        );
        Self { start: self.start + start, len: end - start, ..self }
    }

    /// The range's first byte, and its number of bytes.
    pub(crate) fn bytes<T>(self) -> (u64, usize) {
        let size = size_of::<T>() as u64;
        // A handle from a peer is an allegation; a range that overflows is out of range, which the region's table refuses.
        (
            self.start.saturating_mul(size),
            usize::try_from(self.len.saturating_mul(size)).unwrap_or(usize::MAX),
        )
    }
}

macro_rules! handle {
    ($handle:ident) => {
        impl<T: Element> $handle<T> {
            /// How many elements the handle covers.
            pub fn len(&self) -> usize {
                self.range.len as usize
            }

            /// Whether the handle covers no elements.
            pub fn is_empty(&self) -> bool {
                self.range.len == 0
            }

            /// A part of the range.
            ///
            /// # Panics
            /// If `range` reaches beyond the handle's range.
            pub fn slice(&self, range: Range<usize>) -> Self {
                Self { range: self.range.slice(range), elements: PhantomData }
            }
        }

        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                *self
            }
        }

        impl<T> Copy for $handle<T> {}

        impl<T> fmt::Debug for $handle<T> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(
                    out,
                    concat!(stringify!($handle), "({} elements on {})"),
                    self.range.len, self.range.key.node
                )
            }
        }
    };
}

handle!(SourceHandle);
handle!(TargetHandle);

impl<T: Element> TargetHandle<T> {
    /// The same range for reading.
    pub fn as_source(&self) -> SourceHandle<T> {
        SourceHandle { range: self.range, elements: PhantomData }
    }
}
