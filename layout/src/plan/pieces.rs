//! Pieces of a plan: the plan's copies in parts, which any number of threads carry out in any order.
//!
//! 1. Loops are cut between their steps, from the outermost one on, so that a piece keeps the shape for which there is a kernel.
//! 2. Lists are cut between their blocks.
//! 3. A transposition is cut along the loop that is far in the target, so that two pieces seldom write to one line of the cache.
//! 4. Short steps that follow each other are one piece.

use crate::plan::nest::{Nest, Pair};
use crate::plan::step::{Listed, Places, Step, beside};
use crate::plan::{Footprint, Plan};
use crate::value::op::{Body, Piece as Run};
use std::sync::Arc;

/// A plan in parts of about so many bytes, no two of which write the same byte; see [`Plan::pieces`].
#[derive(Debug, Clone)]
pub struct Pieces {
    pub(crate) pieces: Vec<Piece>,
    /// That of the whole plan.
    pub(crate) footprint: Footprint,
}

/// Steps that one thread carries out.
#[derive(Debug, Clone, Default)]
pub(crate) struct Piece {
    pub(crate) steps: Vec<Step>,
    bytes: u64,
}

impl Plan {
    /// Cuts the plan into pieces of at most so many bytes; single blocks of lists may be longer.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let every_other = Plan::pack(Layout::<u64>::vector(1000, 1, 2)?.raw())?;
    /// let pieces = every_other.pieces(1000);
    /// assert_eq!((0..pieces.len()).map(|piece| pieces.bytes(piece)).sum::<u64>(), every_other.bytes());
    ///
    /// let (source, mut target) = ((0..1999).collect::<Vec<u64>>(), vec![0_u64; 1000]);
    /// for piece in (0..pieces.len()).rev() {
    ///     // SAFETY: the buffers are as long as the layouts say, and nobody else has them.
    ///     unsafe { pieces.run(piece, source.as_ptr().cast(), target.as_mut_ptr().cast()) };
    /// }
    /// assert!(target.iter().copied().eq((0..1999).step_by(2)));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: some 100 ns for each piece; lists are copied.
    ///
    /// # Panics
    /// If pieces are to have no byte.
    pub fn pieces(&self, bytes: u64) -> Pieces {
        assert!(bytes > 0, "pieces have bytes");
        let mut cutter = Cutter { most: bytes, pieces: Vec::new(), begun: Piece::default() };
        self.steps.iter().for_each(|step| cutter.cut(step, (0, 0)));
        cutter.close();
        Pieces { pieces: cutter.pieces, footprint: self.footprint() }
    }
}

impl Pieces {
    /// How many there are; none of a plan without bytes.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Bytes that a piece copies.
    ///
    /// # Panics
    /// If there is no such piece.
    pub fn bytes(&self, piece: usize) -> u64 {
        self.pieces[piece].bytes
    }
}

struct Cutter {
    most: u64,
    pieces: Vec<Piece>,
    /// What the next steps are added to, while they fit.
    begun: Piece,
}

impl Cutter {
    fn close(&mut self) {
        if !self.begun.steps.is_empty() {
            self.pieces.push(std::mem::take(&mut self.begun));
        }
    }

    fn add(&mut self, step: Step, bytes: u64) {
        if self.begun.bytes + bytes > self.most {
            self.close();
        }
        self.begun.steps.push(step);
        self.begun.bytes += bytes;
    }

    /// Cuts a step whose places are counted from `base`.
    fn cut(&mut self, step: &Step, base: Places) {
        let bytes = bytes_of(step);
        if bytes <= self.most {
            return self.add(moved(step, base), bytes);
        }
        let placed = |source: &i64, target: &i64| (base.0 + source, base.1 + target);
        match step {
            Step::Nest(nest) => self.nest(nest, &nest.loops, placed(&nest.source, &nest.target)),
            Step::Loop { source, target, loops, steps } => self.loops(loops, steps, placed(source, target)),
            Step::List { source, target, list, listed } => self.list(list, *listed, placed(source, target)),
            Step::Lists { source, target, from, to } => self.lists((from, to), placed(source, target)),
            Step::Each { source, target, offsets, listed, stride, steps } => {
                self.each(offsets, (*listed, *stride), steps, placed(source, target));
            }
            Step::Zip { source, target, at, bytes } => {
                for (begin, len) in ranges(*bytes, self.most) {
                    let (source, target) = (Arc::clone(source), Arc::clone(target));
                    let part = Step::Zip { source, target, at: at + begin, bytes: len };
                    self.add(moved(&part, base), len);
                }
            }
        }
    }

    fn nest(&mut self, nest: &Nest, loops: &[Pair], (source, target): Places) {
        let part = |(source, target), block, loops: &[Pair]| {
            let is_transposed = nest.is_transposed && loops.len() >= 2;
            Step::Nest(Nest { source, target, block, loops: loops.into(), is_transposed })
        };
        let Some((outer, rest)) = loops.split_first() else {
            for (begin, len) in ranges(nest.block, self.most) {
                self.add(part((source + begin as i64, target + begin as i64), len, &[]), len);
            }
            return;
        };
        let each = rest.iter().fold(nest.block, |bytes, pair| bytes * pair.count);
        let is_tiled = nest.is_transposed && rest.len() == 1;
        for (begin, count) in ranges(outer.count, (self.most / each).max(1)) {
            let at = stepped((source, target), outer, begin);
            if each > self.most && !is_tiled {
                self.nest(nest, rest, at);
            } else {
                let loops: Vec<Pair> =
                    std::iter::once(Pair { count, ..*outer }).chain(rest.iter().copied()).collect();
                self.add(part(at, nest.block, &loops), count * each);
            }
        }
    }

    fn loops(&mut self, loops: &[Pair], steps: &[Step], at: Places) {
        let Some((outer, rest)) = loops.split_first() else {
            return steps.iter().for_each(|step| self.cut(step, at));
        };
        let each = rest.iter().fold(bytes_of_all(steps), |bytes, pair| bytes * pair.count);
        for (begin, count) in ranges(outer.count, (self.most / each).max(1)) {
            let at = stepped(at, outer, begin);
            if each > self.most {
                self.loops(rest, steps, at);
            } else {
                let loops = std::iter::once(Pair { count, ..*outer }).chain(rest.iter().copied()).collect();
                let part = Step::Loop { source: at.0, target: at.1, loops, steps: steps.to_vec() };
                self.add(part, count * each);
            }
        }
    }

    fn list(&mut self, list: &Body, listed: Listed, at: Places) {
        let most_bytes = self.most;
        let mut part = |list: Body, dense: u64, bytes| {
            let (source, target) = beside(at, listed, 0, dense as i64);
            self.add(Step::List { source, target, list, listed }, bytes);
        };
        match list {
            Body::Indexed { block, scale, indices } => {
                let most = (most_bytes / block).max(1) as usize;
                for (place, indices) in indices.chunks(most).enumerate() {
                    let (dense, bytes) = ((place * most) as u64 * block, indices.len() as u64 * block);
                    part(
                        Body::Indexed { block: *block, scale: *scale, indices: indices.into() },
                        dense,
                        bytes,
                    );
                }
            }
            Body::Runs(runs) => {
                let (mut start, mut runs) = (0, &runs[..]);
                while let Some(first) = runs.first() {
                    let end = (start + most_bytes).max(first.end);
                    let (front, rest) = runs.split_at(runs.partition_point(|run| run.end <= end));
                    let bytes = front.last().map_or(0, |last| last.end) - start;
                    let front = front.iter().map(|run| Run { at: run.at, end: run.end - start });
                    part(Body::Runs(front.collect()), start, bytes);
                    (start, runs) = (start + bytes, rest);
                }
            }
            Body::Block(_) | Body::Each { .. } | Body::Group(_) => unreachable!("plans list lists"),
        }
    }

    fn lists(&mut self, lists: (&Body, &Body), (source, target): Places) {
        let (
            Body::Indexed { block, scale: from_scale, indices: from },
            Body::Indexed { scale: to_scale, indices: to, .. },
        ) = lists
        else {
            unreachable!("plans pair lists of blocks")
        };
        let most = (self.most / block).max(1) as usize;
        let part = |scale: &u64, indices: &[u32]| Body::Indexed {
            block: *block,
            scale: *scale,
            indices: indices.into(),
        };
        for (one, other) in from.chunks(most).zip(to.chunks(most)) {
            let (from, to) = (part(from_scale, one), part(to_scale, other));
            self.add(Step::Lists { source, target, from, to }, one.len() as u64 * block);
        }
    }

    fn each(&mut self, offsets: &[i64], (listed, stride): (Listed, i64), steps: &[Step], at: Places) {
        let each = bytes_of_all(steps);
        if each > self.most {
            for (place, offset) in offsets.iter().enumerate() {
                let at = beside(at, listed, *offset, place as i64 * stride);
                steps.iter().for_each(|step| self.cut(step, at));
            }
            return;
        }
        let most = (self.most / each).max(1) as usize;
        for (place, offsets) in offsets.chunks(most).enumerate() {
            let (source, target) = beside(at, listed, 0, (place * most) as i64 * stride);
            let (bytes, offsets, steps) = (offsets.len() as u64 * each, offsets.into(), steps.to_vec());
            self.add(Step::Each { source, target, offsets, listed, stride, steps }, bytes);
        }
    }
}

/// Where `0..count` is cut: the begin and the length of each part.
fn ranges(count: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    (0..count.div_ceil(most)).map(move |part| (part * most, most.min(count - part * most)))
}

fn stepped((source, target): Places, pair: &Pair, steps: u64) -> Places {
    (source + steps as i64 * pair.source, target + steps as i64 * pair.target)
}

/// The same step, counted from other bases.
fn moved(step: &Step, (source, target): Places) -> Step {
    if (source, target) == (0, 0) {
        return step.clone();
    }
    let loops = Default::default();
    Step::Loop { source, target, loops, steps: vec![step.clone()] }
}

fn bytes_of_all(steps: &[Step]) -> u64 {
    steps.iter().map(bytes_of).sum()
}

/// Bytes that a step copies: some of a layout's, whose bytes fit 64 bits.
fn bytes_of(step: &Step) -> u64 {
    let within = |loops: &[Pair], bytes| loops.iter().fold(bytes, |bytes, pair| bytes * pair.count);
    match step {
        Step::Nest(nest) => within(&nest.loops, nest.block),
        Step::Loop { loops, steps, .. } => within(loops, bytes_of_all(steps)),
        Step::List { list, .. } | Step::Lists { from: list, .. } => {
            list.bytes().expect("a layout's bytes were counted")
        }
        Step::Each { offsets, steps, .. } => offsets.len() as u64 * bytes_of_all(steps),
        Step::Zip { bytes, .. } => *bytes,
    }
}
