//! Lattices: blocks within loops over the dimensions of one array, told apart dimension by dimension.

use crate::value::op::{Body, Op};

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
pub(crate) fn are_apart(one: &Op, other: &Op) -> bool {
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
