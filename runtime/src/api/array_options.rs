//! Options of an array's creation: its elements, their placement, and whether elements may be inserted later.

use crate::model::callback::{Callback, ErasedCallback};
use crate::model::collection::{Blueprint, Elements, Placement};
use crate::model::coordinates::Coordinates;
use crate::model::ids::{ChareTypeId, CollectionId, Index, PeId};
use crate::model::index::ArrayIndex;
use crate::model::index_range::IndexRange;
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

/// Options of an array's creation: its elements, their placement, and whether elements may be inserted later. A function that takes
/// options also takes any value that they can be made `from`: a length, as in `create(10)` or `create((4, 5))`, or a range, as in
/// `create((0, 0)..(4, 5))`.
///
/// | elements | |
/// |---|---|
/// | `ArrayOptions::from((4, 5))` | from the origin to before this index, in every dimension |
/// | `ArrayOptions::from((-2, 0)..(2, 8))` | from here to before there, in every dimension |
/// | `ArrayOptions::stepped((-2, 0)..(2, 8), (1, 4))` | of those, each by steps |
/// | `ArrayOptions::listed(indices)` | these |
/// | `ArrayOptions::empty()` | none yet: they are inserted, until `done_inserting` |
///
/// Elements can be inserted only into a [`dynamic`](Self::dynamic) array. In any other array, a message to an element that is not there
/// ends the job with an error that names the element. In a dynamic array such a message waits until the element is inserted.
#[derive(Clone, Debug)]
pub struct ArrayOptions<I = u64> {
    elements: Elements,
    placement: Placement,
    is_open: bool,
    created: Option<ErasedCallback>,
    pub(super) after: Option<CollectionId>,
    index: PhantomData<fn() -> I>,
}

impl<I: ArrayIndex> ArrayOptions<I> {
    fn with_elements(elements: Elements) -> Self {
        let (is_open, created, after) = (false, None, None);
        Self { elements, placement: Placement::Block, is_open, created, after, index: PhantomData }
    }

    /// An array without elements yet; it is [`dynamic`](Self::dynamic).
    pub fn empty() -> Self {
        Self::with_elements(Elements::List(Arc::default())).dynamic()
    }

    /// The elements with these indices. The indices travel to every process, so a range is cheaper where there is one.
    ///
    /// # Panics
    /// If an index is given twice.
    pub fn listed(indices: impl IntoIterator<Item = I>) -> Self {
        let mut seen = BTreeSet::new();
        let mut list = |index: I| {
            let packed = index.pack();
            assert!(seen.insert(packed), "an array cannot be created with two elements {index:?}");
            (packed, index.name().map(Vec::into_boxed_slice))
        };
        let list = indices.into_iter().map(&mut list).collect();
        Self::with_elements(Elements::List(list))
    }

    /// Allows insertions of elements, until `done_inserting` of the array's proxy is called. A message to an element that is not there
    /// waits for the element and counts as in flight: a job that waits for quiescence waits for it too. A reduction over the array costs
    /// some more messages, which tell every PE that it has begun.
    pub fn dynamic(mut self) -> Self {
        self.is_open = true;
        self
    }

    /// Places elements by `placement` instead of in blocks.
    pub fn placement(mut self, placement: Placement) -> Self {
        self.placement = placement;
        self
    }

    /// Calls back once all elements that the array begins with have been constructed.
    pub fn created(mut self, callback: Callback<()>) -> Self {
        self.created = Some(callback.erase());
        self
    }

    /// How many elements the array begins with.
    pub(super) fn len(&self) -> u64 {
        self.elements.len()
    }

    pub(crate) fn blueprint(self, id: CollectionId, chare: ChareTypeId) -> Blueprint {
        let Self { elements, placement, is_open, created, after, .. } = self;
        Blueprint { id, chare, elements, placement, is_open, created, after }
    }
}

impl<I: Coordinates> ArrayOptions<I> {
    /// The elements from the origin to before `end`, in every dimension; in one dimension `end` is the array's length.
    pub fn new(end: I) -> Self {
        Self::from(I::ORIGIN..end)
    }

    /// Every `step`th element of a range, in each dimension.
    ///
    /// # Panics
    /// If a step is not positive.
    pub fn stepped(range: Range<I>, step: I) -> Self {
        Self::with_elements(Elements::Range(Arc::new(IndexRange::new(&range.start, &range.end, &step))))
    }

    /// Places elements by any rule. The rule is asked once for each element of the range, here; the answers travel with the array. See
    /// [`Placement::by`] for a rule that travels itself.
    ///
    /// ```
    /// use chare::{ArrayOptions, PeId};
    /// let corner_apart = ArrayOptions::new((8, 8)).place_by(|(x, y)| PeId(if x + y == 0 { 0 } else { 1 }));
    /// # let _: ArrayOptions<(u32, u32)> = corner_apart;
    /// ```
    pub fn place_by(self, mut rule: impl FnMut(I) -> PeId) -> Self {
        let mut place = |index: Index| rule(I::unpack(index).expect("it is of the range's type"));
        let table = match &self.elements {
            Elements::Range(range) => (0..range.len()).map(|position| place(range.index(position))).collect(),
            Elements::List(_) => {
                panic!("only the elements of a range are placed one by one; see `Placement::by`")
            }
        };
        self.placement(Placement::Table(table))
    }
}

impl<I: Coordinates> From<I> for ArrayOptions<I> {
    fn from(end: I) -> Self {
        Self::new(end)
    }
}

impl<I: Coordinates> From<Range<I>> for ArrayOptions<I> {
    fn from(range: Range<I>) -> Self {
        Self::stepped(range, I::UNIT)
    }
}
