//! Coordinates of indices: integers and tuples of them in lanes of equal width, the first coordinate in the highest lane.
//!
//! A coordinate stands in its lane as an unsigned number that orders as the coordinate does. So indices order as their tuples do, and
//! code that sees lanes alone can count through a range of indices (see [`crate::model::index_range`]).

use crate::model::arguments::Message;
use crate::model::ids::Index;
use crate::model::index::ArrayIndex;
use std::fmt::Debug;
use std::hash::Hash;

/// The most dimensions that an array may have.
pub(crate) const DIMENSIONS_MAX: usize = 6;

/// The width of a lane, in bits, of an index of so many dimensions.
pub(crate) const fn lane_bits(dimensions: usize) -> u32 {
    if dimensions <= 1 { u64::BITS } else { u128::BITS / dimensions as u32 }
}

/// The lane of one dimension.
pub(crate) fn lane(index: Index, dimension: usize, dimensions: usize) -> u64 {
    let bits = lane_bits(dimensions);
    let above = (dimensions - 1 - dimension) as u32 * bits;
    (index.bits() >> above) as u64 & (u64::MAX >> (u64::BITS - bits))
}

/// The index with these lanes.
#[inline]
pub(crate) fn from_lanes(lanes: &[u64]) -> Index {
    let bits = lane_bits(lanes.len());
    Index::from_bits(lanes.iter().fold(0, |all, lane| all.wrapping_shl(bits) | u128::from(*lane)))
}

/// An integer as a coordinate. In its lane it is an unsigned number of the same order.
pub trait Coordinate: Message + Copy + Eq + Hash + Debug {
    #[doc(hidden)]
    const ZERO: Self;
    #[doc(hidden)]
    const ONE: Self;
    #[doc(hidden)]
    fn to_lane(self, bits: u32) -> u64;
    #[doc(hidden)]
    fn from_lane(lane: u64, bits: u32) -> Self;
    #[doc(hidden)]
    fn to_step(self) -> u64;
    #[doc(hidden)]
    fn to_place(self) -> Option<u64>;
}

#[cold]
fn refuse_coordinate(coordinate: &dyn Debug, bits: u32) -> ! {
    panic!("the coordinate {coordinate:?} is too large for its place in an index, which has {bits} bits")
}

macro_rules! coordinates {
    ($($number:ty, $lane:expr, $number_of:expr;)*) => {
        $(impl Coordinate for $number {
            const ZERO: Self = 0;
            const ONE: Self = 1;

            #[inline]
            #[allow(clippy::cast_lossless, reason = "one text for all integers, and not all of them convert by `From`")]
            fn to_lane(self, bits: u32) -> u64 {
                let lane: fn(i128, u32) -> i128 = $lane;
                let number = lane(self as i128, bits) as u64;
                if number > u64::MAX >> (u64::BITS - bits) {
                    refuse_coordinate(&self, bits);
                }
                number
            }

            #[inline]
            fn from_lane(lane: u64, bits: u32) -> Self {
                let number: fn(i128, u32) -> i128 = $number_of;
                number(i128::from(lane), bits) as Self
            }

            fn to_step(self) -> u64 {
                u64::try_from(self).ok().filter(|step| *step > 0).unwrap_or_else(|| {
                    panic!("the step {self} of a range of indices is not positive")
                })
            }

            fn to_place(self) -> Option<u64> {
                u64::try_from(self).ok()
            }
        }

        impl ArrayIndex for $number {
            const DIMENSIONS: usize = 1;

            #[inline]
            fn pack(&self) -> Index {
                Index::from(self.to_lane(u64::BITS))
            }

            fn unpack(index: Index) -> Option<Self> {
                Some(Self::from_lane(index.low(), u64::BITS))
            }

            fn place(&self) -> Option<Vec<u64>> {
                self.to_place().map(|place| vec![place])
            }
        }

        impl Coordinates for $number {
            const ORIGIN: Self = 0;
            const UNIT: Self = 1;

            fn lanes(&self) -> Vec<u64> {
                vec![self.to_lane(u64::BITS)]
            }

            fn steps(&self) -> Vec<u64> {
                vec![self.to_step()]
            }
        })*
    };
}

coordinates! {
    u8, |number, _| number, |lane, _| lane;
    u16, |number, _| number, |lane, _| lane;
    u32, |number, _| number, |lane, _| lane;
    u64, |number, _| number, |lane, _| lane;
    usize, |number, _| number, |lane, _| lane;
    i8, |number, bits| number + (1 << (bits - 1)), |lane, bits| lane - (1 << (bits - 1));
    i16, |number, bits| number + (1 << (bits - 1)), |lane, bits| lane - (1 << (bits - 1));
    i32, |number, bits| number + (1 << (bits - 1)), |lane, bits| lane - (1 << (bits - 1));
    i64, |number, bits| number + (1 << (bits - 1)), |lane, bits| lane - (1 << (bits - 1));
    isize, |number, bits| number + (1 << (bits - 1)), |lane, bits| lane - (1 << (bits - 1));
}

/// An index of one to six dimensions whose ranges can be counted through: an integer, or a tuple of two to six integers.
pub trait Coordinates: ArrayIndex {
    /// The index whose coordinates are all zero.
    #[doc(hidden)]
    const ORIGIN: Self;
    /// The index whose coordinates are all one.
    #[doc(hidden)]
    const UNIT: Self;
    /// The coordinates in their lanes, in order.
    #[doc(hidden)]
    fn lanes(&self) -> Vec<u64>;
    /// The coordinates as distances.
    #[doc(hidden)]
    fn steps(&self) -> Vec<u64>;
}

macro_rules! tuples {
    ($($dimensions:literal: $($name:ident $place:tt),*;)*) => {
        $(impl<$($name: Coordinate),*> ArrayIndex for ($($name),*) {
            const DIMENSIONS: usize = $dimensions;

            #[inline]
            fn pack(&self) -> Index {
                let bits = lane_bits($dimensions);
                from_lanes(&[$(self.$place.to_lane(bits)),*])
            }

            fn unpack(index: Index) -> Option<Self> {
                let bits = lane_bits($dimensions);
                Some(($($name::from_lane(lane(index, $place, $dimensions), bits)),*))
            }

            fn place(&self) -> Option<Vec<u64>> {
                [$(self.$place.to_place()),*].into_iter().collect()
            }
        }

        impl<$($name: Coordinate),*> Coordinates for ($($name),*) {
            const ORIGIN: Self = ($($name::ZERO),*);
            const UNIT: Self = ($($name::ONE),*);

            fn lanes(&self) -> Vec<u64> {
                let bits = lane_bits($dimensions);
                vec![$(self.$place.to_lane(bits)),*]
            }

            fn steps(&self) -> Vec<u64> {
                vec![$(self.$place.to_step()),*]
            }
        })*
    };
}

tuples! {
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
    5: A 0, B 1, C 2, D 3, E 4;
    6: A 0, B 1, C 2, D 3, E 4, F 5;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packs, unpacks and orders indices, given in their order.
    fn round_trip<I: ArrayIndex + Ord>(sorted: &[I]) {
        let packed: Vec<Index> = sorted.iter().map(I::pack).collect();
        assert!(packed.is_sorted(), "{sorted:?}");
        for (index, packed) in sorted.iter().zip(packed) {
            assert_eq!(I::unpack(packed).as_ref(), Some(index));
            assert_eq!(index.name(), None);
        }
    }

    #[test]
    fn integers_and_tuples_come_back_and_keep_their_order() {
        round_trip(&[0, 1, u64::MAX]);
        round_trip(&[i32::MIN, -1, 0, 1, i32::MAX]);
        round_trip(&[(i64::MIN, 5), (-1, u64::MAX), (0, 0), (i64::MAX, 0)]);
        round_trip(&[(0u32, -1i8, 7usize), (0, 0, 0), (1, 0, 0), (u32::MAX, 127, 1 << 41)]);
        round_trip(&[(0u32, i32::MIN, 0u8, 0u32), (0, 0, 0, u32::MAX), (u32::MAX, i32::MAX, 255, u32::MAX)]);
        round_trip(&[(0u16, 0i16, 0u16, 0i16, -1i32), (0, 0, 0, 0, 0), (0, 0, 0, 1, -9), (1, -3, 0, 0, 0)]);
        round_trip(&[
            (0, 0, 0, 0, 0, 0),
            (0, 0, 0, 0, 1, 0),
            (0, 0, 1, 0, 0, 0),
            (u16::MAX, 1, 2, 3, 4, u16::MAX),
        ]);
    }

    #[test]
    fn the_largest_coordinate_of_a_lane_fits_and_one_more_does_not() {
        let max = (1i32 << 20) - 1;
        assert!((0, 0, 0, 0, 0, max).pack() > (0, 0, 0, 0, 0, -max - 1).pack());
        for refused in [(max + 1, 0, 0, 0, 0, 0), (0, 0, -max - 2, 0, 0, 0)] {
            let panic = std::panic::catch_unwind(|| refused.pack()).unwrap_err();
            let text = panic.downcast::<String>().unwrap();
            assert!(text.contains("1048576") || text.contains("1048577"), "{text}");
        }
        assert!(std::panic::catch_unwind(|| (0u64, 1u64 << 42, 0u64).pack()).is_err());
    }
}
