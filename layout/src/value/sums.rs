//! Sums that fit: additions and products of counts, strides and places, refused in words where 64 bits do not hold them.

use crate::LayoutError;

pub(crate) const PLACE: &str = "a displacement";
pub(crate) const BYTES: &str = "the size";

pub(crate) fn add(left: i64, right: i64) -> Result<i64, LayoutError> {
    left.checked_add(right).ok_or(LayoutError::TooFar { what: PLACE })
}

pub(crate) fn mul(left: i64, right: i64) -> Result<i64, LayoutError> {
    left.checked_mul(right).ok_or(LayoutError::TooFar { what: PLACE })
}

pub(crate) fn signed(value: u64) -> Result<i64, LayoutError> {
    i64::try_from(value).map_err(|_| LayoutError::TooFar { what: PLACE })
}

pub(crate) fn add_bytes(left: u64, right: u64) -> Result<u64, LayoutError> {
    left.checked_add(right).ok_or(LayoutError::TooFar { what: BYTES })
}

pub(crate) fn mul_bytes(left: u64, right: u64) -> Result<u64, LayoutError> {
    left.checked_mul(right).ok_or(LayoutError::TooFar { what: BYTES })
}

/// How far the last of `count` steps lies from the first; 0 if there are none.
pub(crate) fn reach(count: u64, stride: i64) -> Result<i64, LayoutError> {
    let reach = i128::from(count.saturating_sub(1)) * i128::from(stride);
    i64::try_from(reach).map_err(|_| LayoutError::TooFar { what: PLACE })
}

pub(crate) fn gcd(mut left: u64, mut right: u64) -> u64 {
    while right != 0 {
        (left, right) = (right, left % right);
    }
    left
}
