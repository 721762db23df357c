//! Partitions: rules by which one buffer is dealt out, from a part's number to the layout of its elements.
//!
//! 1. No two parts share an element, and all lie within a buffer of the partition's length: by construction where an array is dealt out,
//!    by a check of the whole table otherwise. Bytes from a peer are checked in the same way, so a value always keeps that.
//! 2. A part is known by its number, or by its place in the grid of parts: places count as arrays do, the last coordinate fastest.

mod raw;
#[cfg(test)]
mod tests;

pub use raw::RawPartition;

use crate::{Distribution, Layout, LayoutError};
use raw::{Dealt, Rule, Told};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// A rule that deals one buffer of `T` out in parts that share no element: scatters, gathers and transpositions are told by it who has
/// what.
///
/// It is a value: shared by cloning, compared by content, and it travels in messages. An array that is dealt out takes some words,
/// whatever the number of parts; a table takes what its layouts do, and is checked again where it arrives.
///
/// ```
/// use chare_layout::{Layout, Partition};
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// // A matrix of 4 x 6 in two blocks of rows by three of columns.
/// let blocks = Partition::<f64>::blocks([4, 6], [2, 3])?;
/// let places = |part: Layout<f64>| part.runs().map(|(at, len)| (at / 8, len / 8)).collect::<Vec<_>>();
/// assert_eq!((blocks.len(), blocks.elements()), (6, 24));
/// assert_eq!(places(blocks.part(4).expect("there are six")), [(14, 2), (20, 2)]);
/// assert_eq!(blocks.part(4), blocks.part_at(&[1, 1]));
/// assert_eq!(blocks.part(6), None);
///
/// let dealt = Partition::<f64>::cyclic([10], [2], [2])?;
/// assert_eq!(places(dealt.part(1).expect("there are two")), [(2, 2), (6, 2)]);
/// # Ok(())
/// # }
/// ```
#[derive(Serialize, Deserialize)]
#[serde(bound = "", try_from = "RawPartition", into = "RawPartition")]
pub struct Partition<T> {
    raw: RawPartition,
    elements: PhantomData<fn() -> T>,
}

impl<T> Partition<T> {
    fn new(rule: Rule) -> Result<Self, LayoutError> {
        RawPartition::try_from(Told { element_bytes: size_of::<T>() as u64, rule })?.try_into()
    }

    fn array<const N: usize>(
        sizes: [usize; N],
        pieces: [usize; N],
        distribution: impl Fn(usize) -> Distribution,
    ) -> Result<Self, LayoutError> {
        let dealt = |dimension: usize| Dealt {
            size: sizes[dimension] as u64,
            distribution: distribution(dimension),
            pieces: pieces[dimension] as u64,
        };
        Self::new(Rule::Array((0..N).map(dealt).collect()))
    }

    /// Blocks of an array of these sizes, the last index fastest: so many pieces along each dimension, each of the size divided by the
    /// number of pieces and rounded up, so that the last ones may be shorter, or empty.
    ///
    /// # Errors
    /// No piece along a dimension, what does not fit 64 bits.
    pub fn blocks<const N: usize>(sizes: [usize; N], pieces: [usize; N]) -> Result<Self, LayoutError> {
        Self::array(sizes, pieces, |_| Distribution::Block)
    }

    /// Blocks of the rows of a matrix of this height and width; see [`blocks`](Self::blocks).
    ///
    /// # Errors
    /// As [`blocks`](Self::blocks).
    pub fn rows(sizes: [usize; 2], pieces: usize) -> Result<Self, LayoutError> {
        Self::blocks(sizes, [pieces, 1])
    }

    /// Blocks of the columns of a matrix of this height and width, each row by row; see [`blocks`](Self::blocks).
    ///
    /// # Errors
    /// As [`blocks`](Self::blocks).
    pub fn columns(sizes: [usize; 2], pieces: usize) -> Result<Self, LayoutError> {
        Self::blocks(sizes, [1, pieces])
    }

    /// An array of these sizes whose indices are dealt out in turn along each dimension, so many at a time.
    ///
    /// # Errors
    /// As [`blocks`](Self::blocks); none at a time.
    pub fn cyclic<const N: usize>(
        sizes: [usize; N],
        at_a_time: [usize; N],
        pieces: [usize; N],
    ) -> Result<Self, LayoutError> {
        Self::array(sizes, pieces, |dimension| Distribution::Cyclic(at_a_time[dimension] as u64))
    }

    /// These layouts of a buffer of so many elements. What none of them selects belongs to nobody.
    ///
    /// Costs a walk over all layouts, which have [`OPS_MAX`](crate::OPS_MAX) operations at most together; a layout that is made of
    /// strides is one.
    ///
    /// # Errors
    /// Layouts that share an element, lie outside the buffer or select pieces of elements; more operations than that.
    pub fn table(elements: usize, parts: &[Layout<T>]) -> Result<Self, LayoutError> {
        let parts = parts.iter().map(|part| part.encode().into()).collect();
        Self::new(Rule::Table { elements: elements as u64, parts })
    }

    /// How many parts there are.
    pub fn len(&self) -> usize {
        self.raw.len() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// How many elements the buffer has.
    pub fn elements(&self) -> usize {
        (self.raw.bytes() / self.raw.element_bytes()) as usize
    }

    /// The elements of the part of this number; `None` if there is none. The layout is made anew each time.
    pub fn part(&self, number: usize) -> Option<Layout<T>> {
        let part = self.raw.part(number as u64)?;
        Some(Layout::from_raw(part).unwrap_or_else(|error| unreachable!("it was checked: {error}")))
    }

    /// The elements of the part at this place in the grid of parts; `None` if there is none. One coordinate is the number of a part.
    pub fn part_at(&self, place: &[u64]) -> Option<Layout<T>> {
        self.part(self.raw.number_of(place)? as usize)
    }

    /// The shared value without the type.
    pub fn raw(&self) -> &RawPartition {
        &self.raw
    }
}

impl<T> TryFrom<RawPartition> for Partition<T> {
    type Error = LayoutError;

    fn try_from(raw: RawPartition) -> Result<Self, LayoutError> {
        let (grain, element) = (raw.element_bytes(), size_of::<T>() as u64);
        if grain != element {
            return Err(LayoutError::NotWhole { grain, element });
        }
        Ok(Self { raw, elements: PhantomData })
    }
}

impl<T> From<Partition<T>> for RawPartition {
    fn from(partition: Partition<T>) -> Self {
        partition.raw
    }
}

impl<T> Clone for Partition<T> {
    fn clone(&self) -> Self {
        Self { raw: self.raw.clone(), elements: PhantomData }
    }
}

impl<T> PartialEq for Partition<T> {
    fn eq(&self, other: &Self) -> bool {
        self.raw == other.raw
    }
}

impl<T> Eq for Partition<T> {}

impl<T> fmt::Debug for Partition<T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw.fmt(out)
    }
}
