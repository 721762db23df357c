//! Injectivity: whether a layout selects no byte twice, so that it may be written.
//!
//! 1. Closed form: loops whose steps, taken from the shortest, are each at least as long as all that is inside; places of a
//!    list and fields of a group whose spans do not meet, or which lie apart in some dimension of an array. Holds for all that
//!    selects from arrays.
//! 2. More bytes than the span has: some byte is selected twice.
//! 3. Otherwise the runs decide, sorted, up to [`RUNS_MAX`] of them.

use crate::LayoutError;
use crate::value::bounds::{Facts, facts};
use crate::value::op::{Body, Op, lengths};
use crate::value::runs::Runs;

/// Runs that are sorted at most: 24 MiB of memory, for a moment.
const RUNS_MAX: u64 = 1 << 20;

/// Operations that are held against each other at most, each two of them.
const PAIRED_MAX: usize = 64;

/// # Errors
/// Where it selects a byte again, or that nobody knows.
pub(crate) fn check(ops: &[Op]) -> Result<(), LayoutError> {
    if are_apart(ops) {
        return Ok(());
    }
    let Some(Facts { bytes, low, high, runs, .. }) = facts(ops)? else { return Ok(()) };
    if runs <= RUNS_MAX {
        return check_runs(Runs::new(ops, 0, bytes));
    }
    let span = high.abs_diff(low);
    if bytes > span {
        // Bytes 0..=span of the stream cannot all land on different ones.
        return Err(LayoutError::Overlaps { byte: span });
    }
    Err(LayoutError::MayOverlap { runs })
}

fn span(ops: &[Op]) -> Option<(i64, i64)> {
    facts(ops).ok().flatten().map(|facts| (facts.low, facts.high))
}

/// Whether closed forms show that nothing is selected twice.
fn are_apart(ops: &[Op]) -> bool {
    let spans: Option<Vec<_>> = ops.iter().map(|op| span(std::slice::from_ref(op))).collect();
    ops.iter().all(is_apart) && (spans.is_some_and(disjoint) || lie_apart(ops))
}

/// Whether operations lie apart in some dimension, each two of them.
fn lie_apart(ops: &[Op]) -> bool {
    let behind = |number: usize| ops[number + 1..].iter();
    let apart = |(number, op)| behind(number).all(|other| are_apart_in_a_dimension(op, other));
    ops.len() <= PAIRED_MAX && ops.iter().enumerate().all(apart)
}

fn is_apart(op: &Op) -> bool {
    let (body, low, high) = match &op.body {
        Body::Block(len) => (true, 0, *len as i64),
        Body::Indexed { block, scale, indices } => {
            let step = block.div_ceil(*scale);
            let ascends = indices.windows(2).all(|pair| u64::from(pair[1]) >= u64::from(pair[0]) + step);
            let highest = indices.iter().copied().max().unwrap_or(0);
            let places = || indices.iter().map(|index| (u64::from(*index) * scale) as i64);
            let body = ascends || disjoint(places().map(|at| (at, at + *block as i64)).collect());
            (body, 0, (u64::from(highest) * scale + block) as i64)
        }
        Body::Runs(pieces) => {
            let spans: Vec<_> = lengths(pieces).map(|(at, len)| (at, at + len as i64)).collect();
            let bounds = hull(&spans);
            (disjoint(spans), bounds.0, bounds.1)
        }
        Body::Each { offsets, of } => {
            let Some((low, high)) = span(of) else { return false };
            let spans: Vec<_> = offsets.iter().map(|offset| (offset + low, offset + high)).collect();
            let bounds = hull(&spans);
            (are_apart(of) && disjoint(spans), bounds.0, bounds.1)
        }
        Body::Group(of) => {
            let Some((low, high)) = span(of) else { return false };
            (are_apart(of), low, high)
        }
    };
    let mut steps: Vec<(u64, u64)> =
        op.loops.iter().map(|one| (one.stride.unsigned_abs(), one.count)).collect();
    steps.sort_unstable();
    let mut inside = u128::from(high.abs_diff(low));
    let are_stacked = body
        && steps.into_iter().all(|(stride, count)| {
            let apart = u128::from(stride) >= inside;
            inside += u128::from(stride) * u128::from(count - 1);
            apart
        });
    are_stacked || steps_lie_apart(op)
}

/// Whether the few steps of the outermost loop lie apart, as operations beside each other.
fn steps_lie_apart(op: &Op) -> bool {
    let Some((first, inner)) = op.loops.split_first().filter(|(first, _)| first.count <= PAIRED_MAX as u64)
    else {
        return false;
    };
    let step = |step: u64| {
        let at = op.at.checked_add(first.stride.checked_mul(step as i64)?)?;
        Op::new(at, inner.into(), op.body.clone()).ok()
    };
    let Some(steps) = (0..first.count).map(step).collect::<Option<Vec<Op>>>() else { return false };
    is_apart(&steps[0]) && lie_apart(&steps)
}

fn hull(spans: &[(i64, i64)]) -> (i64, i64) {
    spans.iter().fold((i64::MAX, i64::MIN), |hull, span| (hull.0.min(span.0), hull.1.max(span.1)))
}

fn disjoint(mut spans: Vec<(i64, i64)>) -> bool {
    if !spans.is_sorted() {
        spans.sort_unstable();
    }
    spans.windows(2).all(|pair| pair[0].1 <= pair[1].0)
}

/// Sorts the runs; of those that meet, the earliest byte of the stream that was found to land on its twin is named.
fn check_runs(runs: Runs<'_>) -> Result<(), LayoutError> {
    let mut start = 0;
    let mut runs: Vec<(i64, i64, u64)> = runs
        .map(|(at, len)| {
            start += len;
            (at, at + len as i64, start - len)
        })
        .collect();
    runs.sort_unstable();
    let mut first: Option<u64> = None;
    // The run that reaches furthest so far: whoever meets any earlier one meets it.
    let mut furthest: Option<(i64, i64, u64)> = None;
    for run in runs {
        if let Some(before) = furthest.filter(|before| before.1 > run.0) {
            let twin = before.2 + run.0.abs_diff(before.0);
            let again = twin.max(run.2);
            first = Some(first.map_or(again, |first| first.min(again)));
        }
        if furthest.is_none_or(|before| run.1 > before.1) {
            furthest = Some(run);
        }
    }
    first.map_or(Ok(()), |byte| Err(LayoutError::Overlaps { byte }))
}

/// Blocks within loops: where the lowest starts, the loops by stride, the largest first, and the block's length.
#[derive(Clone)]
struct Lattice {
    at: i128,
    loops: Vec<(i128, i128)>,
    block: i128,
}

impl Lattice {
    /// The lattice that an operation is, if its body is a block.
    fn of(op: &Op) -> Option<Self> {
        let Body::Block(block) = op.body else { return None };
        let (mut at, mut loops) = (i128::from(op.at), Vec::with_capacity(op.loops.len()));
        for one in &op.loops {
            let (stride, count) = (i128::from(one.stride), i128::from(one.count));
            at += stride.min(0) * (count - 1);
            if stride != 0 {
                loops.push((stride.abs(), count));
            }
        }
        loops.sort_unstable_by(|one, other| other.cmp(one));
        Some(Self { at, loops, block: i128::from(block) })
    }

    /// Takes the loop of this stride off, if it is the outermost. Returns in which steps of that stride, counted from 0, the lattice is,
    /// and leaves what it is within one; `None` if it reaches from one step into the next.
    fn split(&mut self, stride: i128) -> Option<(i128, i128)> {
        let count = match self.loops.first() {
            Some((outermost, count)) if *outermost == stride => *count,
            _ => 1,
        };
        if count > 1 {
            self.loops.remove(0);
        }
        let first = self.at.div_euclid(stride);
        self.at = self.at.rem_euclid(stride);
        let inside: i128 = self.loops.iter().map(|(stride, count)| stride * (count - 1)).sum();
        (self.at + inside + self.block <= stride).then_some((first, first + count))
    }
}

/// Whether two operations have no byte in common, as far as the dimensions of an array show it: in some dimension that both are cut by,
/// they lie in different steps.
fn are_apart_in_a_dimension(one: &Op, other: &Op) -> bool {
    let (Some(one), Some(other)) = (Lattice::of(one), Lattice::of(other)) else { return false };
    // The array may start where one of the two does, or at the buffer's start.
    [0, one.at, other.at].into_iter().any(|start| {
        let from = |lattice: &Lattice| Lattice { at: lattice.at - start, ..lattice.clone() };
        are_apart_within(from(&one), from(&other))
    })
}

fn are_apart_within(mut one: Lattice, mut other: Lattice) -> bool {
    loop {
        let strides = one.loops.first().into_iter().chain(other.loops.first());
        let Some(stride) = strides.map(|(stride, _)| *stride).max() else {
            return one.at + one.block <= other.at || other.at + other.block <= one.at;
        };
        let (Some(mine), Some(others)) = (one.split(stride), other.split(stride)) else { return false };
        if mine.1 <= others.0 || others.1 <= mine.0 {
            return true;
        }
    }
}
