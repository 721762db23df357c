//! Lists of blocks of one length: the common ones, whose form is found in two passes over their places.

use crate::value::op::{Body, Loops, Op};
use crate::value::{limits, sums};

/// Blocks that a list cannot be told of in a shorter form: at least two, of which none touches the next, not evenly spaced.
struct Scattered {
    lowest: i64,
    highest: i64,
    /// The largest number that all distances are multiples of, a power of two.
    scale: u64,
}

/// The operation for blocks of `len` units of `unit` bytes at places counted in units, if they need no shorter form, and where its last
/// byte ends. None where the general way is to be gone: it finds the form, or the error.
pub(crate) fn scattered(len: u64, unit: u64, places: &[i64]) -> Option<(Op, i64)> {
    limits::check_indices(places.len()).ok()?;
    let Scattered { lowest, highest, scale } = survey(i64::try_from(len).ok()?, places)?;
    let bytes = |units: i64| sums::mul(units, i64::try_from(unit).ok()?).ok();
    let (at, end) = (bytes(lowest)?, bytes(highest.checked_add_unsigned(len)?)?);
    let shift = scale.trailing_zeros();
    let index = |place: i64| place.wrapping_sub(lowest) as u64 >> shift;
    u32::try_from(index(highest)).ok()?;
    let indices = places.iter().map(|place| index(*place) as u32).collect();
    let (block, scale) = (sums::mul_bytes(len, unit).ok()?, sums::mul_bytes(scale, unit).ok()?);
    let op = Op::new(at, Loops::new(), Body::Indexed { block, scale, indices }).ok()?;
    Some((op, end))
}

fn survey(len: i64, places: &[i64]) -> Option<Scattered> {
    let (first, rest) = places.split_first()?;
    let stride = rest.first()?.wrapping_sub(*first);
    let (mut lowest, mut highest, mut distances) = (*first, *first, 0);
    let (mut touch, mut are_even) = (false, true);
    for (before, place) in places.iter().zip(rest) {
        let step = place.wrapping_sub(*before);
        touch |= step == len;
        are_even &= step == stride;
        lowest = lowest.min(*place);
        highest = highest.max(*place);
        distances |= place.wrapping_sub(*first);
    }
    highest.checked_sub(lowest)?;
    if touch || are_even {
        return None;
    }
    Some(Scattered { lowest, highest, scale: scale(places, distances as u64)? })
}

/// The largest common divisor of all distances from the first place, whose bits are these; none if it is no power of two.
fn scale(places: &[i64], bits: u64) -> Option<u64> {
    let mut scale = 0;
    // The divisor of the first few is a power of two already, unless that of all has an odd part.
    for place in places {
        scale = sums::gcd(scale, place.abs_diff(places[0]));
        if scale.is_power_of_two() {
            return Some(scale.min(1 << bits.trailing_zeros()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use crate::{LayoutError, Raw};

    #[test]
    fn a_list_that_is_made_quickly_is_the_one_that_is_made_slowly() -> Result<(), LayoutError> {
        let far = 1_i64 << 40;
        let element = Raw::bytes_of(8)?;
        for places in [
            &[5, 0, 9, 2][..],
            &[0, 2, 3],
            &[3, 2, 0],
            &[-4, 12, 4, 8],
            &[0, 6, 18, 30],
            &[7, 7, 3],
            &[0, 10, 20],
            &[0, far, 5],
            &[1 << 33, (1 << 33) + 2, (1 << 33) + 16],
            &[0, (1 << 32) - 1, 9],
            &[0, 1 << 32, 9],
            &[4],
            &[],
        ] {
            for len in [0, 1, 2, 3] {
                let bytes: Vec<i64> = places.iter().map(|place| place * 8).collect();
                let quick = element.indexed_block(len, places)?;
                assert_eq!(quick, element.hindexed_block(len, &bytes)?, "{len} at {places:?}");
                assert!(quick.runs().eq(Raw::decode(&quick.encode())?.runs()));
            }
        }
        let too_far = element.indexed_block(1, &[0, 5, i64::MAX / 4]);
        assert_eq!(too_far.err(), element.hindexed_block(1, &[0, 40, i64::MAX]).err());
        Ok(())
    }
}
