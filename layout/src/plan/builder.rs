//! Builder of plans: reads the operations of both sides along their streams and finds the steps from one to the other.
//!
//! 1. Operations of both sides that have as many bytes, and whose loops cut each other evenly, become one nest.
//! 2. Where one side is one piece of memory, the other side's operation is the nest, whatever it is.
//! 3. Few pieces at each step of loops, on either side, are blocks within loops.
//! 4. What is left, from one place where operations of both sides end to the next, is walked on both sides at once.

use crate::plan::fields;
use crate::plan::nest::{Nest, Pair, Pairs, common};
use crate::plan::step::{Listed, Step, sides};
use crate::value::op::{Body, Op};
use std::sync::Arc;

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
pub(crate) struct Builder {
    whole: Option<(Shared, Shared)>,
}

impl Builder {
    pub(crate) fn build(mut self, source: &[Op], target: &[Op], bytes: u64) -> Vec<Step> {
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
