//! Plans: a source layout and a target layout joined to one nest of copies.
//!
//! 1. Operations of both sides that have as many bytes, and whose loops cut each other evenly, become one nest.
//! 2. Where one side is one piece of memory, the other side's operation is the nest, whatever it is.
//! 3. Few pieces at each step of loops, on either side, are blocks within loops.
//! 4. What is left, from one place where operations of both sides end to the next, is walked on both sides at once.
//!
//! A plan knows distances, no addresses: it serves every pair of buffers.

pub(crate) mod copies;
pub(crate) mod cost;
mod fields;
pub(crate) mod nest;
pub(crate) mod pieces;

use crate::plan::nest::{Nest, Pair, Pairs, common};
use crate::value::op::{Body, Op};
use crate::{LayoutError, Raw, value};
use std::ops::Range;
use std::sync::Arc;

/// Copies from one layout to another.
///
/// ```
/// use chare_layout::{Layout, Plan, copy};
/// # fn main() -> Result<(), chare_layout::LayoutError> {
/// // A transposition: rows of the source are columns of the target.
/// let rows = Layout::<u8>::contiguous(6)?;
/// let columns = Layout::<u8>::strided(&[2, 3], &[1, 2])?;
/// let mut target = [0; 6];
/// copy(&Plan::new(&rows, &columns)?, &[1, 2, 3, 4, 5, 6], &mut target)?;
/// assert_eq!(target, [1, 4, 2, 5, 3, 6]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Plan {
    pub(crate) steps: Vec<Step>,
    bytes: u64,
    source: (i64, i64),
    target: (i64, i64),
}

/// The side that a list of places belongs to; the other one is one piece of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listed {
    Source,
    Target,
}

#[derive(Debug, Clone)]
pub(crate) enum Step {
    Nest(Nest),
    /// Steps within loops.
    Loop {
        source: i64,
        target: i64,
        loops: Pairs,
        steps: Vec<Step>,
    },
    /// Pieces of a list: `Indexed` or `Runs`.
    List {
        source: i64,
        target: i64,
        list: Body,
        listed: Listed,
    },
    /// Pieces of two lists, `Indexed` both, of as many blocks of one length.
    Lists {
        source: i64,
        target: i64,
        from: Body,
        to: Body,
    },
    /// Steps at each offset of one side, and every `stride` bytes of the other.
    Each {
        source: i64,
        target: i64,
        offsets: Arc<[i64]>,
        listed: Listed,
        stride: i64,
        steps: Vec<Step>,
    },
    /// Both streams from `at` on, piece by piece.
    Zip {
        source: Arc<[Op]>,
        target: Arc<[Op]>,
        at: u64,
        bytes: u64,
    },
}

impl Plan {
    /// Copies the stream of `source` to that of `target`; a longer target gets a beginning.
    ///
    /// Cost: some 100 ns for nests of loops; lists are shared, not copied. Worth keeping for a pair that comes again.
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the source has more bytes, and those of [`Raw::check_target`].
    pub fn new(source: &Raw, target: &Raw) -> Result<Self, LayoutError> {
        if source.bytes() > target.bytes() {
            return Err(LayoutError::TooLong { have: source.bytes(), room: target.bytes() });
        }
        Self::beginning(source, target)
    }

    /// Copies the stream of `source` to that of `target`, as far as the shorter of the two goes.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan, copy};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let (every_other, pair) = (Layout::<u8>::vector(4, 1, 2)?, Layout::<u8>::vector(2, 1, 3)?);
    /// let mut target = [0; 4];
    /// copy(&Plan::beginning(&every_other, &pair)?, &[1, 2, 3, 4, 5, 6, 7], &mut target)?;
    /// assert_eq!(target, [1, 0, 0, 3]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: as [`Plan::new`].
    ///
    /// # Errors
    /// Those of [`Raw::check_target`].
    pub fn beginning(source: &Raw, target: &Raw) -> Result<Self, LayoutError> {
        target.check_target()?;
        let bytes = source.bytes().min(target.bytes());
        Ok(Self {
            steps: Builder::default().build(&source.ops, &target.ops, bytes),
            bytes,
            source: (source.origin(), source.end()),
            target: (target.origin(), target.end()),
        })
    }

    /// Copies the stream of `source` to one piece of memory.
    ///
    /// # Errors
    /// None that a layout which exists can cause.
    pub fn pack(source: &Raw) -> Result<Self, LayoutError> {
        Self::new(source, &Raw::bytes_of(source.bytes())?)
    }

    /// Copies a stream in one piece of memory to where `target` selects.
    ///
    /// # Errors
    /// Those of [`Raw::check_target`].
    pub fn unpack(target: &Raw) -> Result<Self, LayoutError> {
        Self::new(&Raw::bytes_of(target.bytes())?, target)
    }

    /// Copies a range of the stream of `source` to one piece of memory, from its first byte on.
    ///
    /// ```
    /// use chare_layout::{Layout, Plan, copy};
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let every_other = Layout::<u8>::vector(4, 1, 2)?;
    /// let mut chunk = [0; 2];
    /// copy(&Plan::pack_range(every_other.raw(), 1..3)?, &[1, 2, 3, 4, 5, 6, 7], &mut chunk)?;
    /// assert_eq!(chunk, [3, 5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Cost: as [`Plan::new`], and the lists of the range are copied.
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the stream ends before.
    pub fn pack_range(source: &Raw, range: Range<u64>) -> Result<Self, LayoutError> {
        let (ops, dense) = (Self::ranged(source, &range)?, dense(&range));
        let bytes = range.end - range.start;
        let steps = Builder::default().build(&ops, &dense, bytes);
        Ok(Self { steps, bytes, source: (source.origin(), source.end()), target: (0, bytes as i64) })
    }

    /// Copies one piece of memory, from its first byte on, to where a range of the stream of `target` goes.
    ///
    /// Cost: as [`Plan::pack_range`].
    ///
    /// # Errors
    /// [`LayoutError::TooLong`] if the stream ends before, and those of [`Raw::check_target`].
    pub fn unpack_range(target: &Raw, range: Range<u64>) -> Result<Self, LayoutError> {
        target.check_target()?;
        let (ops, dense) = (Self::ranged(target, &range)?, dense(&range));
        let bytes = range.end - range.start;
        let steps = Builder::default().build(&dense, &ops, bytes);
        Ok(Self { steps, bytes, source: (0, bytes as i64), target: (target.origin(), target.end()) })
    }

    /// # Errors
    /// [`LayoutError::TooLong`] if the stream of a layout ends before a range does.
    fn ranged(layout: &Raw, range: &Range<u64>) -> Result<Vec<Op>, LayoutError> {
        if range.start > range.end || range.end > layout.bytes() {
            return Err(LayoutError::TooLong { have: range.end, room: layout.bytes() });
        }
        Ok(value::range::range(&layout.ops, range.clone()))
    }

    /// Bytes that it copies.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether buffers of these lengths hold all that either side selects.
    ///
    /// # Errors
    /// [`LayoutError::OutOfBounds`].
    pub fn check_bounds(&self, source_len: u64, target_len: u64) -> Result<(), LayoutError> {
        for ((origin, end), len) in [(self.source, source_len), (self.target, target_len)] {
            if origin < 0 || u64::try_from(end).is_ok_and(|end| end > len) {
                return Err(LayoutError::OutOfBounds { origin, end, len });
            }
        }
        Ok(())
    }
}

/// One piece of memory for the bytes of a range.
fn dense(range: &Range<u64>) -> Vec<Op> {
    let len = range.end - range.start;
    if len == 0 { Vec::new() } else { vec![Op::block(0, len)] }
}

/// A side and how far it is consumed.
struct Reading<'a> {
    ops: &'a [Op],
    done: u64,
}

impl<'a> Reading<'a> {
    fn head(&self) -> &'a Op {
        &self.ops[0]
    }

    fn left(&self) -> u64 {
        self.head().bytes - self.done
    }

    /// Where the rest of it starts, if it is one piece of memory.
    fn dense(&self) -> Option<i64> {
        let op = self.head();
        (op.loops.is_empty() && matches!(op.body, Body::Block(_))).then(|| op.at + self.done as i64)
    }

    fn skip(&mut self, bytes: u64) {
        self.done += bytes;
        if self.done == self.head().bytes {
            (self.ops, self.done) = (&self.ops[1..], 0);
        }
    }
}

type Shared = Arc<[Op]>;

/// Steps in the making, and both sides as walks share them, once there is one.
#[derive(Default)]
struct Builder {
    whole: Option<(Shared, Shared)>,
}

impl Builder {
    fn build(mut self, source: &[Op], target: &[Op], bytes: u64) -> Vec<Step> {
        let (mut from, mut to) = (Reading { ops: source, done: 0 }, Reading { ops: target, done: 0 });
        let mut steps = Vec::new();
        let mut at = 0;
        while at < bytes {
            let most = bytes - at;
            let (left, right) = (from.left(), to.left());
            let (len, step) = match (from.dense(), to.dense()) {
                (Some(source), Some(target)) => {
                    let len = left.min(right).min(most);
                    (len, Some(Step::Nest(Nest::new(source, target, len, Pairs::new()))))
                }
                (None, Some(dense)) if from.done == 0 && left <= right.min(most) => {
                    (left, Some(against(from.head(), dense, Listed::Source)))
                }
                (Some(dense), None) if to.done == 0 && right <= left.min(most) => {
                    (right, Some(against(to.head(), dense, Listed::Target)))
                }
                _ if (from.done, to.done) == (0, 0) && left == right && left <= most => {
                    (left, matched(from.head(), to.head()))
                }
                _ => (0, None),
            };
            match step {
                Some(step) => {
                    steps.push(step);
                    from.skip(len);
                    to.skip(len);
                    at += len;
                }
                None => {
                    let len = until_both_end(&mut from, &mut to, most);
                    let (source, target) = self.whole.get_or_insert_with(|| (source.into(), target.into()));
                    let (source, target) = (Arc::clone(source), Arc::clone(target));
                    steps.push(Step::Zip { source, target, at, bytes: len });
                    at += len;
                }
            }
        }
        steps
    }
}

/// Skips to the next place where operations of both sides end; returns how far that is.
fn until_both_end(from: &mut Reading<'_>, to: &mut Reading<'_>, most: u64) -> u64 {
    let mut len = 0;
    while len < most {
        let step = from.left().min(to.left()).min(most - len);
        from.skip(step);
        to.skip(step);
        len += step;
        if (from.done, to.done) == (0, 0) {
            break;
        }
    }
    len
}

/// Places in both buffers.
type Places = (i64, i64);

/// Places moved on the listed side and on the dense one.
fn beside(at: Places, listed: Listed, place: i64, dense: i64) -> Places {
    let (source, target) = sides(listed, place, dense);
    (at.0 + source, at.1 + target)
}

/// A pair of what belongs to the listed side and what to the other.
fn sides(listed: Listed, laid: i64, dense: i64) -> (i64, i64) {
    match listed {
        Listed::Source => (laid, dense),
        Listed::Target => (dense, laid),
    }
}

/// An operation on one side, one piece of memory from `dense` on at the other.
fn against(op: &Op, dense: i64, listed: Listed) -> Step {
    let body = op.loops.iter().fold(op.bytes, |bytes, one| bytes / one.count);
    let mut stride = body as i64;
    let mut loops = Pairs::new();
    for one in op.loops.iter().rev() {
        let (source, target) = sides(listed, one.stride, stride);
        loops.insert(0, Pair { count: one.count, source, target });
        stride *= one.count as i64;
    }
    let (source, target) = sides(listed, op.at, dense);
    let inner = |(source, target)| match &op.body {
        Body::Block(_) => unreachable!("blocks are nests"),
        Body::Indexed { .. } | Body::Runs(_) => match (fields::against_one_piece(op), listed) {
            (Some(fields), Listed::Source) => nests(fields::joined(&fields, &[(0, body)])),
            (Some(fields), Listed::Target) => nests(fields::joined(&[(0, body)], &fields)),
            (None, _) => vec![Step::List { source, target, list: op.body.clone(), listed }],
        },
        Body::Each { offsets, of } => {
            let stride = (body / offsets.len() as u64) as i64;
            let (offsets, steps) = (Arc::clone(offsets), all_against(of, listed));
            vec![Step::Each { source, target, offsets, listed, stride, steps }]
        }
        Body::Group(of) => all_against(of, listed),
    };
    match &op.body {
        Body::Block(block) => Step::Nest(Nest::new(source, target, *block, loops)),
        Body::Group(_) => Step::Loop { source, target, loops, steps: inner((0, 0)) },
        _ if loops.is_empty() => inner((source, target)).remove(0),
        _ => Step::Loop { source, target, loops, steps: inner((0, 0)) },
    }
}

fn all_against(ops: &[Op], listed: Listed) -> Vec<Step> {
    let mut dense = 0;
    ops.iter()
        .map(|op| {
            dense += op.bytes as i64;
            against(op, dense - op.bytes as i64, listed)
        })
        .collect()
}

/// Operations of as many bytes as one step, if their loops go together.
fn matched(source: &Op, target: &Op) -> Option<Step> {
    match (&source.body, &target.body) {
        (Body::Block(from), Body::Block(to)) => {
            let (block, loops) = common((*from, &source.loops), (*to, &target.loops))?;
            Some(Step::Nest(Nest::new(source.at, target.at, block, loops)))
        }
        (Body::Group(from), Body::Group(to)) => {
            let counts = |op: &Op| op.loops.iter().map(|one| one.count).collect::<Vec<_>>();
            if from.len() != to.len() || counts(source) != counts(target) {
                return None;
            }
            let pairs = source.loops.iter().zip(&target.loops);
            let loops =
                pairs.map(|(from, to)| Pair { count: from.count, source: from.stride, target: to.stride });
            let both = from.iter().zip(to.iter());
            let steps = both.map(|(from, to)| if from.bytes == to.bytes { matched(from, to) } else { None });
            let (source, target) = (source.at, target.at);
            Some(Step::Loop { source, target, loops: loops.collect(), steps: steps.collect::<Option<_>>()? })
        }
        (Body::Indexed { block, .. }, Body::Indexed { block: same, .. })
            if block == same && source.loops.is_empty() && target.loops.is_empty() =>
        {
            let (from, to) = (source.body.clone(), target.body.clone());
            Some(Step::Lists { source: source.at, target: target.at, from, to })
        }
        _ => {
            let (loops, blocks) = fields::matched(source, target)?;
            Some(Step::Loop { source: source.at, target: target.at, loops, steps: nests(blocks) })
        }
    }
}

fn nests(blocks: Vec<Nest>) -> Vec<Step> {
    blocks.into_iter().map(Step::Nest).collect()
}
