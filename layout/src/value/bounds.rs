//! Bounds of operations: bytes, lowest and highest place touched, runs and grain, in closed form for loops.

use crate::LayoutError;
use crate::value::op::{Body, Op, lengths};
use crate::value::sums;

/// What is known of operations one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) bytes: u64,
    /// The bytes touched lie in `low..high`.
    pub(crate) low: i64,
    pub(crate) high: i64,
    /// Where the first piece starts and the last one ends: neighbours meet there.
    pub(crate) first: i64,
    pub(crate) end: i64,
    /// Pieces after neighbours melted, across all loops.
    pub(crate) runs: u64,
    /// What all blocks, strides and places are multiples of.
    pub(crate) grain: u64,
}

impl Facts {
    /// Of no operations.
    pub(crate) const NOTHING: Self = Self { bytes: 0, low: 0, high: 0, first: 0, end: 0, runs: 0, grain: 0 };

    pub(crate) fn run(at: i64, len: u64) -> Result<Self, LayoutError> {
        let end = sums::add(at, sums::signed(len)?)?;
        let grain = sums::gcd(len, at.unsigned_abs());
        Ok(Self { bytes: len, low: at, high: end, first: at, end, runs: 1, grain })
    }

    fn shifted(self, by: i64) -> Result<Self, LayoutError> {
        Ok(Self {
            low: sums::add(self.low, by)?,
            high: sums::add(self.high, by)?,
            first: sums::add(self.first, by)?,
            end: sums::add(self.end, by)?,
            grain: sums::gcd(self.grain, by.unsigned_abs()),
            ..self
        })
    }

    fn then(self, next: Self) -> Result<Self, LayoutError> {
        Ok(Self {
            bytes: sums::add_bytes(self.bytes, next.bytes)?,
            low: self.low.min(next.low),
            high: self.high.max(next.high),
            first: self.first,
            end: next.end,
            runs: self.runs + next.runs - u64::from(self.end == next.first),
            grain: sums::gcd(self.grain, next.grain),
        })
    }

    fn looped(self, count: u64, stride: i64) -> Result<Self, LayoutError> {
        let reach = sums::reach(count, stride)?;
        let melts = i128::from(self.end) == i128::from(self.first) + i128::from(stride);
        Ok(Self {
            bytes: sums::mul_bytes(self.bytes, count)?,
            low: sums::add(self.low, reach.min(0))?,
            high: sums::add(self.high, reach.max(0))?,
            first: self.first,
            end: sums::add(self.end, reach)?,
            runs: sums::mul_bytes(self.runs, count)? - if melts { count - 1 } else { 0 },
            grain: sums::gcd(self.grain, stride.unsigned_abs()),
        })
    }
}

/// What is known of canonical operations; none if they select nothing.
pub(crate) fn facts(ops: &[Op]) -> Result<Option<Facts>, LayoutError> {
    join(ops.iter().map(of_op))
}

fn join(all: impl Iterator<Item = Result<Facts, LayoutError>>) -> Result<Option<Facts>, LayoutError> {
    let mut known: Option<Facts> = None;
    for one in all {
        known = Some(match known {
            None => one?,
            Some(known) => known.then(one?)?,
        });
    }
    Ok(known)
}

fn of_op(op: &Op) -> Result<Facts, LayoutError> {
    let body = match &op.body {
        Body::Block(len) => Facts::run(0, *len)?,
        Body::Indexed { block, scale, indices } => of_indices(*block, *scale, indices)?,
        Body::Runs(pieces) => {
            join(lengths(pieces).map(|(at, len)| Facts::run(at, len)))?.expect("lists are not empty")
        }
        Body::Each { offsets, of } => {
            let one = facts(of)?.expect("groups are not empty");
            join(offsets.iter().map(|offset| one.shifted(*offset)))?.expect("lists are not empty")
        }
        Body::Group(of) => facts(of)?.expect("groups are not empty"),
    };
    let looped = op.loops.iter().rev().try_fold(body, |facts, one| facts.looped(one.count, one.stride))?;
    looped.shifted(op.at)
}

fn of_indices(block: u64, scale: u64, indices: &[u32]) -> Result<Facts, LayoutError> {
    let highest = indices.iter().copied().max().expect("lists are not empty");
    let place = |index: u32| sums::signed(sums::mul_bytes(u64::from(index), scale)?);
    let last = Facts::run(place(indices[indices.len() - 1])?, block)?;
    let touching = if block.is_multiple_of(scale) {
        let step = block / scale;
        indices.windows(2).filter(|pair| u64::from(pair[0]) + step == u64::from(pair[1])).count()
    } else {
        0
    };
    Ok(Facts {
        bytes: sums::mul_bytes(block, indices.len() as u64)?,
        low: 0,
        high: sums::add(place(highest)?, sums::signed(block)?)?,
        first: place(indices[0])?,
        end: last.end,
        runs: (indices.len() - touching) as u64,
        grain: sums::gcd(block, scale),
    })
}
