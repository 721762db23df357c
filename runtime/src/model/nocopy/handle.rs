//! Handles of the Direct API: the key and the range by which a peer reaches registered elements.

use crate::model::callback::ErasedCallback;
use crate::model::nocopy::{Element, ToldLayout};
use chare_layout::{Layout, LayoutError};
use chare_lrts::RegionKey;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

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

/// What a layout selects of a range of registered elements, for any PE to read: see [`SourceHandle::only`]. A handle is one, too, of all its
/// elements.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct SourceSelection<T> {
    pub(crate) range: RemoteRange,
    pub(crate) layout: Option<ToldLayout>,
    elements: PhantomData<fn() -> T>,
}

/// What a layout selects of a range of registered elements, for any PE to write: see [`TargetHandle::only`]. A handle is one, too, of all its
/// elements.
#[derive(Serialize, Deserialize)]
#[serde(bound = "")]
pub struct TargetSelection<T> {
    pub(crate) range: RemoteRange,
    pub(crate) layout: Option<ToldLayout>,
    elements: PhantomData<fn() -> T>,
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
    ($handle:ident, $selection:ident) => {
        impl<T> $selection<T> {
            /// How many elements are selected.
            pub fn len(&self) -> usize {
                let selected = |ToldLayout(layout): &ToldLayout| layout.bytes() as usize / size_of::<T>();
                self.layout.as_ref().map_or(self.range.len as usize, selected)
            }

            /// Whether none are.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }

        impl<T> From<&$handle<T>> for $selection<T> {
            fn from(handle: &$handle<T>) -> Self {
                Self { range: handle.range, layout: None, elements: PhantomData }
            }
        }

        impl<T> From<&$selection<T>> for $selection<T> {
            fn from(selection: &$selection<T>) -> Self {
                selection.clone()
            }
        }

        impl<T> Clone for $selection<T> {
            fn clone(&self) -> Self {
                Self { range: self.range, layout: self.layout.clone(), elements: PhantomData }
            }
        }

        impl<T> fmt::Debug for $selection<T> {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                let (name, of) = (stringify!($selection), self.range.len);
                write!(out, "{name}({} of {of} elements on {})", self.len(), self.range.key.node)
            }
        }

        impl<T: Element> $handle<T> {
            /// What a layout selects of the range, for a transfer in the layout's order.
            ///
            /// ```
            /// use chare::layout::Dims;
            /// use chare::{Buffer, Layout, RegisteredSource, RegisteredTarget, rget, rput};
            ///
            /// let code = chare::Job::in_process(1, 1).run(|| async {
            ///     let column: Layout<u8> = Dims::new([3, 2]).select((.., 1));
            ///     let source = RegisteredSource::register(vec![1, 2, 3, 4, 5, 6]);
            ///     let (filled, done) = chare::future();
            ///     rget(&source.handle().only(&column), vec![0; 3], done).expect("it is as long");
            ///     assert_eq!(filled.await[..], [2, 4, 6]);
            ///
            ///     let target = RegisteredTarget::register(vec![0; 6]);
            ///     let (written, done) = chare::future::<Buffer<u8>>();
            ///     rput(vec![7, 8, 9], &target.handle().only(&column), done).expect("it is as long");
            ///     written.await;
            ///     assert!(target.read(|values| values == [0, 7, 0, 8, 0, 9]).expect("no put is under way"));
            /// });
            /// assert_eq!(code.unwrap(), 0);
            /// ```
            ///
            /// # Panics
            /// If the layout selects what lies outside the range, pieces of elements, or, of what is to be written, an element twice.
            pub fn only(&self, layout: &Layout<T>) -> $selection<T> {
                let bytes = self.range.len.saturating_mul(size_of::<T>() as u64);
                let checked = layout.check_bounds(bytes).and_then(|()| Self::check(layout));
                checked.unwrap_or_else(|error| panic!("a layout of a handle: {error}"));
                let layout = Some(ToldLayout(Arc::clone(layout.raw())));
                $selection { range: self.range, layout, elements: PhantomData }
            }

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

handle!(SourceHandle, SourceSelection);
handle!(TargetHandle, TargetSelection);

impl<T: Element> SourceHandle<T> {
    fn check(_layout: &Layout<T>) -> Result<(), LayoutError> {
        Ok(())
    }
}

impl<T: Element> TargetHandle<T> {
    fn check(layout: &Layout<T>) -> Result<(), LayoutError> {
        layout.check_target()
    }

    /// The same range for reading.
    pub fn as_source(&self) -> SourceHandle<T> {
        SourceHandle { range: self.range, elements: PhantomData }
    }
}
