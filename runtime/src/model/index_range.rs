//! Ranges of indices of one to six dimensions, counted through in the order of the indices.
//!
//! A range is known by its lanes alone (see [`crate::model::coordinates`]): every process counts the same way, whatever the index's type.

use crate::model::coordinates::{Coordinates, DIMENSIONS_MAX, from_lanes, lane, lane_bits};
use crate::model::ids::Index;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// One dimension of a range: `count` lanes from `start` on, `step` apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Extent {
    start: u64,
    count: u64,
    step: u64,
}

/// A range: one extent per dimension, in order.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct IndexRange(Vec<Extent>);

impl IndexRange {
    /// The indices from `start` to before `end`, in each dimension by `step`.
    ///
    /// # Panics
    /// If a step is not positive, or a coordinate has no place in an index.
    pub(crate) fn new<I: Coordinates>(start: &I, end: &I, step: &I) -> Self {
        let extent = |((start, end), step): ((u64, u64), u64)| {
            let count = end.saturating_sub(start).div_ceil(step);
            Extent { start, count, step }
        };
        Self(start.lanes().into_iter().zip(end.lanes()).zip(step.steps()).map(extent).collect())
    }

    /// The numbers below `len`: the members of groups, and arrays of a plain length.
    pub(crate) fn counted(len: u64) -> Self {
        Self(vec![Extent { start: 0, count: len, step: 1 }])
    }

    /// Checks that this is a range of indices of so many dimensions, because a range from another node may say anything.
    ///
    /// # Errors
    /// The defect, in words.
    pub(crate) fn check(&self, dimensions: usize) -> Result<(), String> {
        let Self(extents) = self;
        if extents.len() != dimensions || dimensions > DIMENSIONS_MAX {
            return Err(format!("a range of {} dimensions for indices of {dimensions}", extents.len()));
        }
        let lane_max = u64::MAX >> (u64::BITS - lane_bits(dimensions));
        let fits = |extent: &Extent| {
            let last = extent.count.saturating_sub(1).checked_mul(extent.step);
            let last = last.and_then(|last| last.checked_add(extent.start));
            extent.step > 0 && last.is_some_and(|last| last <= lane_max)
        };
        let total = extents.iter().try_fold(1u64, |total, extent| total.checked_mul(extent.count));
        if !extents.iter().all(fits) || total.is_none() {
            return Err("a range with more indices than there can be".to_owned());
        }
        Ok(())
    }

    /// How many indices are in the range; `u64::MAX` if an unchecked range has more.
    pub(crate) fn len(&self) -> u64 {
        self.0.iter().fold(1, |total, extent| total.saturating_mul(extent.count))
    }

    /// The place of an index in the range; `None` if the index is not in the range.
    pub(crate) fn position(&self, index: Index) -> Option<u64> {
        let Self(extents) = self;
        extents.iter().enumerate().try_fold(0, |position, (dimension, extent)| {
            let distance = lane(index, dimension, extents.len()).checked_sub(extent.start)?;
            let place = distance / extent.step;
            let is_in = distance.is_multiple_of(extent.step) && place < extent.count;
            is_in.then(|| position * extent.count + place)
        })
    }

    /// The index at a place in the range.
    pub(crate) fn index(&self, position: u64) -> Index {
        let Self(extents) = self;
        let mut lanes = [0; DIMENSIONS_MAX];
        let mut rest = position;
        for (lane, extent) in lanes.iter_mut().zip(extents).rev() {
            *lane = extent.start + rest % extent.count * extent.step;
            rest /= extent.count;
        }
        from_lanes(&lanes[..extents.len()])
    }
}

/// The indices of a range, in order, of which lists of elements are made.
///
/// ```
/// let lower: Vec<(i32, u8)> = chare::indices((-1, 0)..(1, 3)).filter(|(x, y)| x + i32::from(*y) < 1).collect();
/// assert_eq!(lower, [(-1, 0), (-1, 1), (0, 0)]);
/// ```
///
/// # Panics
/// If a coordinate has no place in an index.
pub fn indices<I: Coordinates>(range: Range<I>) -> impl Iterator<Item = I> + Clone {
    let range = IndexRange::new(&range.start, &range.end, &I::UNIT);
    (0..range.len()).map(move |position| {
        I::unpack(range.index(position)).expect("its lanes are those of indices of this type")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::index::ArrayIndex;

    fn all<I: Coordinates>(start: I, end: I, step: I) -> Vec<I> {
        let range = IndexRange::new(&start, &end, &step);
        range.check(I::DIMENSIONS).unwrap();
        let indices: Vec<Index> = (0..range.len()).map(|position| range.index(position)).collect();
        for (position, index) in (0..).zip(&indices) {
            assert_eq!(range.position(*index), Some(position));
        }
        indices.into_iter().map(|index| I::unpack(index).unwrap()).collect()
    }

    #[test]
    fn a_range_has_the_indices_from_start_to_before_end_by_steps_in_order() {
        assert_eq!(all(3u64, 10, 3), [3, 6, 9]);
        assert_eq!(all(-2i32, 3, 2), [-2, 0, 2]);
        assert_eq!(all((-1i32, 0u8), (1, 5), (1, 2)), [(-1, 0), (-1, 2), (-1, 4), (0, 0), (0, 2), (0, 4)]);
        assert_eq!(all((0, 0, 0, 0, 0, 0), (1, 2, 1, 1, 1, 2), (1, 1, 1, 1, 1, 1)).len(), 4);
        assert!(all(5u64, 5, 1).is_empty());
        assert!(all((5u8, 0u8), (3, 9), (1, 1)).is_empty());
    }

    #[test]
    fn what_is_not_in_a_range_has_no_place_there() {
        let range = IndexRange::new(&(-2i32, 0u32), &(4, 3), &(2, 1));
        for outside in [(-3i32, 0u32), (-1, 0), (4, 0), (0, 3)] {
            assert_eq!(range.position(outside.pack()), None, "{outside:?}");
        }
        assert_eq!(range.position((2i32, 2u32).pack()), Some(8));
    }

    #[test]
    fn an_impossible_range_from_elsewhere_is_refused() {
        let extent = |start, count, step| Extent { start, count, step };
        for impossible in [
            vec![extent(0, 1, 0), extent(0, 1, 1)],
            vec![extent(0, 1 << 33, 1), extent(0, 1 << 33, 1)],
            vec![extent(u64::MAX, 2, 1), extent(0, 1, 1)],
            vec![extent(0, 1, 1)],
        ] {
            assert!(IndexRange(impossible.clone()).check(2).is_err(), "{impossible:?}");
        }
        assert_eq!(IndexRange(vec![extent(0, 1 << 33, 1), extent(0, 1 << 33, 1)]).len(), u64::MAX);
        assert!(IndexRange(vec![extent(0, 2, 1); 7]).check(7).is_err());
    }
}
