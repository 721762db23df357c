//! Lists: the one operation for pieces of memory that do not touch each other, by indices where these take no more memory than lengths
//! that vary, and are then copied more quickly.

use crate::LayoutError;
use crate::value::bounds::Facts;
use crate::value::divisor::Divisor;
use crate::value::op::{Body, Loop, Loops, Op, Piece};
use crate::value::{limits, sums};
use std::sync::Arc;

/// So many indices take as much memory as a piece with its length. Measured: blocks of 8 bytes, four to a piece on average, take half as
/// long by indices, those of 24, three to a piece, and of 64 the same.
const INDICES_PER_PIECE: usize = size_of::<Piece>() / size_of::<u32>();

/// The divisor of so many distances is that of all, but for its power of two, unless all have an odd part in common.
const FEW: usize = 16;

/// Joins pieces of which one ends where the next starts.
pub(crate) fn melt_neighbours(runs: Vec<(i64, u64)>) -> Vec<(i64, u64)> {
    let mut melted = Vec::with_capacity(runs.len());
    for (at, len) in runs {
        melt_into(&mut melted, at, len);
    }
    melted
}

/// Adds a piece behind others, of which none touches the next.
pub(crate) fn melt_into(melted: &mut Vec<(i64, u64)>, at: i64, len: u64) {
    let touching = melted.last_mut().filter(|last| last.0.checked_add_unsigned(last.1) == Some(at));
    match touching.and_then(|last| Some((last.1.checked_add(len)?, last))) {
        _ if len == 0 => {}
        Some((joined, last)) => last.1 = joined,
        None => melted.push((at, len)),
    }
}

/// The loops that go through these places, if there are any: of each, as many steps as are evenly spaced. None through less than two places.
///
/// Cost: a look at a few places where there are none.
pub(crate) fn nest(len: usize, place: impl Fn(usize) -> i64) -> Option<Loops> {
    let (mut loops, mut inner) = (Loops::new(), 1);
    while inner < len {
        if !len.is_multiple_of(inner) || loops.len() == limits::LOOPS_MAX {
            return None;
        }
        let steps = len / inner;
        let stride = place(inner).checked_sub(place(0))?;
        let is_next =
            |step: &usize| place(step * inner).checked_sub(place((step - 1) * inner)) == Some(stride);
        let count = 1 + (1..steps).take_while(is_next).count();
        loops.insert(0, Loop { count: count as u64, stride });
        inner *= count;
    }
    (len > 1 && goes_through(&loops, len, place)).then_some(loops)
}

/// Whether the steps of loops are these places, the first of which they start at.
fn goes_through(loops: &[Loop], len: usize, place: impl Fn(usize) -> i64) -> bool {
    let mut steps = vec![0; loops.len()];
    let mut at = i128::from(place(0));
    (0..len).all(|number| {
        let is_there = at == i128::from(place(number));
        for (one, step) in loops.iter().zip(&mut steps).rev() {
            *step += 1;
            at += i128::from(one.stride);
            if *step < one.count {
                break;
            }
            at -= i128::from(one.stride) * i128::from(one.count);
            *step = 0;
        }
        is_there
    })
}

/// One operation for pieces that do not melt.
///
/// # Errors
/// More pieces than a list may have, and what reaches beyond 64 bits.
pub(crate) fn list(runs: &[(i64, u64)]) -> Result<Op, LayoutError> {
    let Some(&(first, len)) = runs.first() else { return Ok(Op::block(0, 0)) };
    for (at, len) in runs {
        sums::add(*at, sums::signed(*len)?)?;
    }
    if runs.iter().all(|run| run.1 == len) {
        if runs.len() == 1 {
            return Ok(Op::block(first, len));
        }
        if let Some(loops) = nest(runs.len(), |number| runs[number].0) {
            return Op::new(first, loops, Body::Block(len));
        }
    }
    limits::check_indices(runs.len())?;
    if let Some(op) = in_blocks(runs) {
        return Ok(op);
    }
    let mut end = 0;
    let pieces: Result<Arc<[Piece]>, LayoutError> = runs
        .iter()
        .map(|(at, len)| {
            end = sums::add_bytes(end, *len)?;
            let at = at.checked_sub(first).ok_or(LayoutError::TooFar { what: sums::PLACE })?;
            Ok(Piece { at, end })
        })
        .collect();
    Op::new(first, Loops::new(), Body::Runs(pieces?))
}

/// Pieces cut into blocks of one length, if their indices take no more memory and 32 bits hold them.
fn in_blocks(runs: &[(i64, u64)]) -> Option<Op> {
    let block = Divisor::common(runs.iter().map(|run| run.1));
    let count = runs.iter().try_fold(0_u64, |count, run| count.checked_add(block.quotient(run.1)))?;
    if !is_short(usize::try_from(count).ok()?, runs.len()) {
        return None;
    }
    let block = block.value();
    let len = i64::try_from(block).ok()?;
    let mut places = Vec::with_capacity(count as usize);
    for (at, bytes) in runs {
        places.extend((*at..at + *bytes as i64).step_by(len as usize));
    }
    let survey = Survey::of(&places, len)?;
    indexed(&places, &survey, survey.divisor(&places), (block, 1))
}

/// Whether so many indices take no more memory than so many pieces, and are not too many.
fn is_short(indices: usize, pieces: usize) -> bool {
    indices <= (INDICES_PER_PIECE * pieces).min(limits::INDICES_MAX)
}

/// What a pass over the places of blocks finds.
struct Survey {
    lowest: i64,
    highest: i64,
    /// Bits of all distances from the first place.
    distances: u64,
    /// Whether a block starts where the one before ends.
    touch: bool,
}

impl Survey {
    /// Of blocks of this length; none of less than two places, and of places that are too far from each other.
    fn of(places: &[i64], len: i64) -> Option<Self> {
        let (first, rest) = places.split_first()?;
        let (mut lowest, mut highest, mut distances) = (*first, *first, 0);
        let mut touch = false;
        for (before, place) in places.iter().zip(rest) {
            let step = place.wrapping_sub(*before);
            touch |= step == len;
            lowest = lowest.min(*place);
            highest = highest.max(*place);
            distances |= place.wrapping_sub(*first);
        }
        (highest.checked_sub(lowest)? > 0).then_some(Self {
            lowest,
            highest,
            distances: distances as u64,
            touch,
        })
    }

    /// The largest number that divides all distances. The power of two in it is known from their bits, and mostly that is all.
    fn divisor(&self, places: &[i64]) -> Divisor {
        let common = |places: &[i64]| Divisor::common(places.iter().map(|at| at.abs_diff(self.lowest)));
        let few = common(&places[..places.len().min(FEW)]).value();
        match few >> few.trailing_zeros().min(63) {
            1 => Divisor::new(1 << self.distances.trailing_zeros()),
            _ => common(places),
        }
    }
}

/// `block` bytes at each of these places, which count in units, if 32 bits hold the indices.
fn indexed(places: &[i64], survey: &Survey, divisor: Divisor, (block, unit): (u64, u64)) -> Option<Op> {
    let index = |at: &i64| divisor.quotient(at.abs_diff(survey.lowest));
    u32::try_from(index(&survey.highest)).ok()?;
    let indices = if divisor.value().is_power_of_two() {
        // The same without a multiplication, for several at a time.
        let shift = divisor.value().trailing_zeros();
        places.iter().map(|at| (at.wrapping_sub(survey.lowest) as u64 >> shift) as u32).collect()
    } else {
        places.iter().map(|at| index(at) as u32).collect()
    };
    let at = survey.lowest.checked_mul(i64::try_from(unit).ok()?)?;
    let scale = divisor.value().checked_mul(unit)?;
    Op::new(at, Loops::new(), Body::Indexed { block, scale, indices }).ok()
}

/// Blocks of `len` units of `unit` bytes at places counted in units, and what is known of them, if their indices are what [`list`] makes
/// of them. None where it is to be asked: it finds the form, or the error.
pub(crate) fn scattered(places: &[i64], len: u64, unit: u64) -> Option<(Op, Facts)> {
    let block = len.checked_mul(unit).filter(|block| *block > 0)?;
    let (blocks, len, bytes) = ((block, unit), i64::try_from(len).ok()?, i64::try_from(unit).ok()?);
    let survey = Survey::of(places, len)?;
    let touching = if survey.touch { touching(places, len)? } else { 0 };
    let pieces = places.len() - touching;
    if !is_short(places.len(), pieces) || nest(places.len(), |number| places[number]).is_some() {
        return None;
    }
    let high = survey.highest.checked_add(len)?.checked_mul(bytes)?;
    let divisor = survey.divisor(places);
    let op = indexed(places, &survey, divisor, blocks)?;
    let facts = Facts {
        bytes: op.bytes,
        low: op.at,
        high,
        first: places[0] * bytes,
        end: (places[places.len() - 1] + len) * bytes,
        runs: pieces as u64,
        grain: unit * sums::gcd(sums::gcd(len as u64, divisor.value()), survey.lowest.unsigned_abs()),
    };
    Some((op, facts))
}

/// How many blocks touch the one before; none if each touches a neighbour, so that their form may be longer blocks.
fn touching(places: &[i64], len: i64) -> Option<usize> {
    let (mut touching, mut is_one_alone, mut begins) = (0, false, true);
    for pair in places.windows(2) {
        let touches = pair[1] - pair[0] == len;
        is_one_alone |= begins && !touches;
        begins = !touches;
        touching += usize::from(touches);
    }
    (is_one_alone || begins).then_some(touching)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::bounds;
    use proptest::prelude::*;

    /// What is made quickly, if something is, is what is made slowly, and known to be what it is.
    fn check(places: &[i64], len: u64, unit: u64) {
        let Some((op, known)) = scattered(places, len, unit) else { return };
        let runs = places.iter().map(|place| (place * unit as i64, len * unit)).collect();
        let slowly = list(&melt_neighbours(runs)).expect("it fits");
        assert_eq!(op, slowly, "{len} of {unit} at {places:?}");
        assert_eq!(Ok(Some(known)), bounds::facts(&[op]), "{len} of {unit} at {places:?}");
    }

    #[test]
    fn a_list_that_is_made_quickly_is_the_one_that_is_made_slowly() {
        let far = 1 << 40;
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
                for unit in [1, 8, 12] {
                    check(places, len, unit);
                }
            }
        }
        for (places, is_made) in [(&[5, 0, 9][..], true), (&[9, 0, 1, 2], true), (&[0, 1, 5, 6, 8, 9], false)]
        {
            assert_eq!(scattered(places, 1, 8).is_some(), is_made, "{places:?}");
        }
        assert!(scattered(&[0, 5, i64::MAX / 4], 1, 8).is_none(), "the general way says that it is too far");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn lists_by_chance_are_made_quickly_as_slowly(
            places in prop::collection::vec(-20_i64..40, 0..40),
            every in 1_i64..8,
            len in 0_u64..4,
            unit in prop::sample::select(vec![1_u64, 8, 12]),
        ) {
            let places: Vec<i64> = places.iter().map(|place| place * every).collect();
            check(&places, len, unit);
        }
    }
}
