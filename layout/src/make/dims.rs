//! Selections from arrays: ranges and indices along each dimension.

use crate::make::inner::{Inner, Row};
use crate::{Layout, LayoutError, Order};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

/// The sizes of an array of `N` dimensions, and which index varies fastest.
///
/// ```
/// use chare_layout::{Dims, Layout};
/// let grid = Dims::new([4, 5]);
/// let row: Layout<f32> = grid.select((2, ..));
/// let column: Layout<f32> = grid.select((.., 0));
/// assert_eq!((row.run_count(), column.run_count()), (1, 4));
/// assert_eq!(column.origin(), 0);
/// assert_eq!(row.origin(), 2 * 5 * 4);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dims<const N: usize> {
    sizes: [usize; N],
    order: Order,
}

impl<const N: usize> Dims<N> {
    /// The last index varies fastest, as in Rust and C.
    pub fn new(sizes: [usize; N]) -> Self {
        Self { sizes, order: Order::C }
    }

    /// The first index varies fastest.
    pub fn fortran(sizes: [usize; N]) -> Self {
        Self { sizes, order: Order::Fortran }
    }

    /// What lies within these ranges, in the array's own order; a tuple of a range or an index for each dimension.
    ///
    /// Its extent is the whole array, so that repeating it goes on in the next array behind.
    ///
    /// # Panics
    /// If a range or an index reaches beyond its dimension, as slicing does; [`try_select`](Self::try_select) says so instead.
    pub fn select<T>(&self, ranges: impl Selection<N>) -> Layout<T> {
        self.try_select(ranges).unwrap_or_else(|error| panic!("{error}"))
    }

    /// As [`select`](Self::select).
    ///
    /// # Errors
    /// [`LayoutError::Outside`], what does not fit 64 bits.
    pub fn try_select<T>(&self, ranges: impl Selection<N>) -> Result<Layout<T>, LayoutError> {
        let ranges = ranges.bounds(&self.sizes);
        for (dimension, ((start, end), size)) in ranges.iter().zip(self.sizes).enumerate() {
            if start > end || *end > size {
                let (start, end, size) = (*start as u64, *end as u64, size as u64);
                return Err(LayoutError::Outside { dimension, start, end, size });
            }
        }
        let sizes = self.sizes.map(|size| size as u64);
        let (starts, lens) =
            (ranges.map(|range| range.0 as u64), ranges.map(|range| (range.1 - range.0) as u64));
        let element = Row::new(size_of::<T>() as u64)?;
        Layout::from_raw(Inner::from(&element).subarray(&sizes, &lens, &starts, self.order)?)
    }
}

/// What can be selected along one dimension: a range or an index.
pub trait Along {
    /// Start and end within a dimension of `size`; the end may lie beyond, which whoever asks refuses.
    fn bounds(self, size: usize) -> (usize, usize);
}

impl Along for usize {
    fn bounds(self, _size: usize) -> (usize, usize) {
        (self, self.saturating_add(1))
    }
}

impl Along for Range<usize> {
    fn bounds(self, _size: usize) -> (usize, usize) {
        (self.start, self.end)
    }
}

impl Along for RangeInclusive<usize> {
    fn bounds(self, _size: usize) -> (usize, usize) {
        (*self.start(), self.end().saturating_add(1))
    }
}

impl Along for RangeFrom<usize> {
    fn bounds(self, size: usize) -> (usize, usize) {
        (self.start, size)
    }
}

impl Along for RangeTo<usize> {
    fn bounds(self, _size: usize) -> (usize, usize) {
        (0, self.end)
    }
}

impl Along for RangeToInclusive<usize> {
    fn bounds(self, _size: usize) -> (usize, usize) {
        (0, self.end.saturating_add(1))
    }
}

impl Along for RangeFull {
    fn bounds(self, size: usize) -> (usize, usize) {
        (0, size)
    }
}

/// A tuple with a range or an index for each of `N` dimensions.
pub trait Selection<const N: usize> {
    /// Start and end along each.
    fn bounds(self, sizes: &[usize; N]) -> [(usize, usize); N];
}

macro_rules! tuples {
    ($($count:literal: $($name:ident $place:tt),+;)*) => {$(
        impl<$($name: Along),+> Selection<$count> for ($($name,)+) {
            fn bounds(self, sizes: &[usize; $count]) -> [(usize, usize); $count] {
                [$(self.$place.bounds(sizes[$place])),+]
            }
        }
    )*};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
    7: A 0, B 1, C 2, D 3, E 4, F 5, G 6;
    8: A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7;
}
