//! Common nests: loops of two layouts made one, and put in the order that memory likes.
//!
//! Loops may be interchanged here, on both sides at once: what goes where stays the same, and a target selects no byte twice.

use crate::value::op::Loop;
use smallvec::SmallVec;

/// One loop over both sides of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    /// Steps.
    pub count: u64,
    /// Bytes from step to step in the source.
    pub source: i64,
    /// Bytes from step to step in the target.
    pub target: i64,
}

pub(crate) type Pairs = SmallVec<[Pair; 4]>;

/// `block` bytes at each step of the loops, outermost first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Nest {
    pub(crate) source: i64,
    pub(crate) target: i64,
    pub(crate) block: u64,
    pub(crate) loops: Pairs,
    /// The two innermost loops disagree about which of them is near in memory: they are copied by tiles.
    pub(crate) is_transposed: bool,
}

/// Blocks up to a line of the cache gain by tiles.
const TRANSPOSED_BLOCK_MAX: u64 = 64;

/// Fewer steps fit in the first cache anyhow.
const TRANSPOSED_COUNT_MIN: u64 = 16;

/// Loops over both: each side's loops are cut where the other's end. None if no side's steps divide the other's.
pub(crate) fn common(source: (u64, &[Loop]), target: (u64, &[Loop])) -> Option<(u64, Pairs)> {
    let bytes = |side: (u64, &[Loop])| -> Vec<Loop> {
        let inner = std::iter::once(Loop { count: side.0, stride: 1 });
        inner.chain(side.1.iter().rev().copied()).collect()
    };
    let (mut left, mut right) = (bytes(source).into_iter(), bytes(target).into_iter());
    let (mut one, mut other) = (left.next(), right.next());
    let mut pairs = Pairs::new();
    while let (Some(from), Some(to)) = (one, other) {
        let count = from.count.min(to.count);
        if !from.count.is_multiple_of(count) || !to.count.is_multiple_of(count) {
            return None;
        }
        pairs.insert(0, Pair { count, source: from.stride, target: to.stride });
        one = cut(from, count)?.or_else(|| left.next());
        other = cut(to, count)?.or_else(|| right.next());
    }
    // Steps of one byte on both sides are the block.
    let innermost = pairs.pop()?;
    debug_assert!(one.is_none() && other.is_none(), "both streams have as many bytes");
    Some((innermost.count, pairs))
}

/// What is left of a loop whose first `count` steps are one.
fn cut(one: Loop, count: u64) -> Option<Option<Loop>> {
    if one.count == count {
        return Some(None);
    }
    let stride = one.stride.checked_mul(i64::try_from(count).ok()?)?;
    Some(Some(Loop { count: one.count / count, stride }))
}

impl Nest {
    pub(crate) fn new(source: i64, target: i64, block: u64, loops: Pairs) -> Self {
        let mut nest = Self { source, target, block, loops, is_transposed: false };
        nest.melt();
        nest.interchange();
        nest.fold();
        nest
    }

    /// A loop that goes on where the block ends, on both sides, is part of the block, wherever it stands.
    fn melt(&mut self) {
        self.loops.retain(|pair| pair.count != 1);
        let is_next = |pair: &Pair, block: u64| (pair.source, pair.target) == (block as i64, block as i64);
        while let Some(place) = self.loops.iter().position(|pair| is_next(pair, self.block)) {
            self.block *= self.loops.remove(place).count;
        }
    }

    /// Long strides outside. Where the sides disagree, the loop that is near in the target is the inner one.
    fn interchange(&mut self) {
        let far = |pair: &Pair| {
            (u128::from(pair.source.unsigned_abs()) + u128::from(pair.target.unsigned_abs()), pair.target)
        };
        self.loops.sort_by_key(|pair| std::cmp::Reverse(far(pair)));
        let near = |side: fn(&Pair) -> i64| {
            (0..self.loops.len()).min_by_key(|place| side(&self.loops[*place]).unsigned_abs())
        };
        let (Some(source), Some(target)) = (near(|pair| pair.source), near(|pair| pair.target)) else {
            return;
        };
        let is_long = |place: usize| self.loops[place].count >= TRANSPOSED_COUNT_MIN;
        if source == target || self.block > TRANSPOSED_BLOCK_MAX || !is_long(source) || !is_long(target) {
            return;
        }
        let (rows, columns) = (self.loops[source], self.loops[target]);
        self.loops.retain(|pair| *pair != rows && *pair != columns);
        self.loops.push(rows);
        self.loops.push(columns);
        self.is_transposed = true;
    }

    /// A loop that goes on where the one inside it ends, on both sides, is one with it.
    fn fold(&mut self) {
        if self.is_transposed {
            return;
        }
        for outer in (1..self.loops.len()).rev().map(|inner| inner - 1) {
            let (before, after) = (self.loops[outer], self.loops[outer + 1]);
            let goes_on =
                |outer: i64, inner: i64| i128::from(outer) == i128::from(inner) * i128::from(after.count);
            if goes_on(before.source, after.source) && goes_on(before.target, after.target) {
                self.loops[outer + 1].count *= before.count;
                self.loops.remove(outer);
            }
        }
    }
}
