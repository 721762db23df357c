//! Copies of a plan: the nests that it is, one after the other, for kernels of other processors.
//!
//! Lists become a copy for each piece; loops around a step become loops of its copies. All of them may be made in any order, or at
//! once: a target selects no byte twice.

use crate::plan::Plan;
use crate::plan::nest::{Pair, Pairs};
use crate::plan::pieces::Pieces;
use crate::plan::step::{Listed, Places, Step, beside};
use crate::value::op::{Body, List, Op, lengths_from};
use crate::value::runs::Runs;
use std::ops::Range;

/// `block` bytes at each step of the loops, outermost first; see [`Plan::for_each_copy`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Copies<'a> {
    /// Place of the first block in the source's buffer.
    pub source: i64,
    /// Place of the first block in the target's.
    pub target: i64,
    /// Bytes of each block.
    pub block: u64,
    /// The loops around it.
    pub loops: &'a [Pair],
}

impl Plan {
    /// Calls `copy` with all copies of the plan, which together are what [`run`](Plan::run) does.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let every_other = Plan::pack(Layout::<u32>::vector(10, 1, 2)?.raw())?;
    /// let mut nests = 0;
    /// every_other.for_each_copy(&mut |copies| {
    ///     assert_eq!((copies.block, copies.loops.len()), (4, 1));
    ///     assert_eq!((copies.loops[0].count, copies.loops[0].source, copies.loops[0].target), (10, 8, 4));
    ///     nests += 1;
    /// });
    /// assert_eq!(nests, 1);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: one call for each nest, and for each piece of a list; blocks that touch are one.
    pub fn for_each_copy(&self, copy: &mut dyn FnMut(Copies<'_>)) {
        Visit { loops: Pairs::new(), copy }.steps(&self.steps, (0, 0));
    }
}

impl Pieces {
    /// Calls `copy` with all copies of one piece, as [`Plan::for_each_copy`] does of a plan.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn for_each_copy(&self, piece: usize, copy: &mut dyn FnMut(Copies<'_>)) {
        Visit { loops: Pairs::new(), copy }.steps(&self.pieces[piece].steps, (0, 0));
    }

    /// The places of the source's buffer from the first byte that a piece reads to the last.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let every_other = Plan::pack(Layout::<u32>::vector(10, 1, 2)?.raw())?;
    /// let pieces = every_other.pieces(20);
    /// assert_eq!((pieces.len(), pieces.source_span(0), pieces.source_span(1)), (2, 0..36, 40..76));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn source_span(&self, piece: usize) -> Range<i64> {
        let (mut first, mut end) = (i64::MAX, i64::MIN);
        self.for_each_copy(piece, &mut |copies| {
            let reach = |pair: &Pair| pair.source * (pair.count as i64 - 1);
            let below: i64 = copies.loops.iter().map(|pair| reach(pair).min(0)).sum();
            let above: i64 = copies.loops.iter().map(|pair| reach(pair).max(0)).sum();
            first = first.min(copies.source + below);
            end = end.max(copies.source + above + copies.block as i64);
        });
        if first < end { first..end } else { 0..0 }
    }
}

impl Copies<'_> {
    /// Calls `block` with the places of each block in the source's and in the target's buffer.
    pub fn for_each_block(&self, block: &mut dyn FnMut(i64, i64)) {
        each_block((self.source, self.target), self.loops, block);
    }
}

fn each_block((source, target): Places, loops: &[Pair], block: &mut dyn FnMut(i64, i64)) {
    let Some((outer, rest)) = loops.split_first() else { return block(source, target) };
    for step in 0..outer.count as i64 {
        each_block((source + step * outer.source, target + step * outer.target), rest, block);
    }
}

struct Visit<'a> {
    /// Those around the step that is looked at.
    loops: Pairs,
    copy: &'a mut dyn FnMut(Copies<'_>),
}

impl Visit<'_> {
    fn steps(&mut self, steps: &[Step], base: Places) {
        for step in steps {
            self.step(step, base);
        }
    }

    fn step(&mut self, step: &Step, base: Places) {
        let moved = |source: &i64, target: &i64| (base.0 + source, base.1 + target);
        match step {
            Step::Nest(nest) => self.within(&nest.loops, |visit| {
                visit.block(moved(&nest.source, &nest.target), nest.block);
            }),
            Step::Loop { source, target, loops, steps } => {
                self.within(loops, |visit| visit.steps(steps, moved(source, target)));
            }
            Step::List { source, target, list, listed } => self.list(list, *listed, moved(source, target)),
            Step::Lists { source, target, from, to } => self.lists((from, to), moved(source, target)),
            Step::Each { source, target, offsets, listed, stride, steps } => {
                let at = moved(source, target);
                for (dense, offset) in offsets.iter().enumerate() {
                    let dense = dense as i64 * stride;
                    self.steps(steps, beside(at, *listed, *offset, dense));
                }
            }
            Step::Zip { source, target, at, bytes } => self.zip((source, target), *at, *bytes, base),
        }
    }

    /// Looks at what stands within some more loops.
    fn within(&mut self, loops: &[Pair], look: impl FnOnce(&mut Self)) {
        let outer = self.loops.len();
        self.loops.extend_from_slice(loops);
        look(self);
        self.loops.truncate(outer);
    }

    fn block(&mut self, (source, target): Places, block: u64) {
        (self.copy)(Copies { source, target, block, loops: &self.loops });
    }

    fn list(&mut self, list: &Body, listed: Listed, at: Places) {
        let mut dense = 0;
        let mut piece = |place: i64, len: u64| {
            self.block(beside(at, listed, place, dense), len);
            dense += len as i64;
        };
        match list.list().expect("plans list lists") {
            List::Indexed { block, scale, indices } => {
                for row in
                    indices.chunk_by(|one, next| u64::from(*one) * scale + block == u64::from(*next) * scale)
                {
                    piece((u64::from(row[0]) * scale) as i64, row.len() as u64 * block);
                }
            }
            List::Runs { pieces, start } => {
                lengths_from(pieces, start).for_each(|(place, len)| piece(place, len));
            }
        }
    }

    fn lists(&mut self, lists: (&Body, &Body), at: Places) {
        let (
            Body::Indexed { block, scale: from_scale, indices: from },
            Body::Indexed { scale: to_scale, indices: to, .. },
        ) = lists
        else {
            unreachable!("plans pair lists of blocks")
        };
        let place = |index: u32, scale: u64| (u64::from(index) * scale) as i64;
        let mut blocks = from.iter().zip(to.iter());
        let mut places = std::iter::from_fn(|| {
            let (one, other) = blocks.next()?;
            Some((place(*one, *from_scale), place(*other, *to_scale)))
        })
        .peekable();
        while let Some((source, target)) = places.next() {
            let mut len = *block as i64;
            // Blocks that touch on both sides are one copy.
            while places.next_if_eq(&(source + len, target + len)).is_some() {
                len += *block as i64;
            }
            self.block((at.0 + source, at.1 + target), len as u64);
        }
    }

    /// Two streams, cut where either has an end.
    fn zip(&mut self, ops: (&[Op], &[Op]), at: u64, bytes: u64, base: Places) {
        let (mut from, mut to) = (Runs::new(ops.0, at, bytes), Runs::new(ops.1, at, bytes));
        let (mut one, mut other) = (from.next(), to.next());
        while let (Some((source, left)), Some((target, right))) = (one, other) {
            let len = left.min(right);
            self.block((base.0 + source, base.1 + target), len);
            let behind = |at: i64, all: u64| (all > len).then(|| (at + len as i64, all - len));
            one = behind(source, left).or_else(|| from.next());
            other = behind(target, right).or_else(|| to.next());
        }
    }
}
