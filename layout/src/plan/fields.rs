//! Fields: the few pieces that stand at each step of loops, cut where those of the other side end, so that loops go around blocks
//! and no list is looked up at each step.

use crate::plan::nest::{Nest, Pairs, common};
use crate::value::lists::melt_into;
use crate::value::op::{Body, Loop, Loops, Op, lengths};

/// More pieces are a list, which is walked as one.
const FIELDS_MAX: usize = 16;

/// Longer lists of indices are not looked through for fields.
const BLOCKS_MAX: usize = 64;

/// Pieces as `(place, length)`, one after the other in the stream.
type Fields = Vec<(i64, u64)>;

/// A list of few pieces within loops, one piece of memory on the other side.
pub(crate) fn against_one_piece(op: &Op) -> Option<Fields> {
    if op.loops.is_empty() {
        return None;
    }
    listed(&op.body)
}

/// Operations of which at least one is a list of few pieces within loops: common loops, and the blocks in them.
pub(crate) fn matched(source: &Op, target: &Op) -> Option<(Pairs, Vec<Nest>)> {
    let unit = step_bytes(source).max(step_bytes(target));
    let ((outer_source, from), (outer_target, to)) = (fields(source, unit)?, fields(target, unit)?);
    let (_, loops) = common((unit, &outer_source), (unit, &outer_target))?;
    Some((loops, joined(&from, &to)))
}

/// The blocks of both sides, cut where either has an end.
pub(crate) fn joined(from: &[(i64, u64)], to: &[(i64, u64)]) -> Vec<Nest> {
    let (mut from, mut to) = (from.iter().copied(), to.iter().copied());
    let (mut one, mut other) = (from.next(), to.next());
    let mut blocks = Vec::new();
    while let (Some((source, left)), Some((target, right))) = (one, other) {
        let len = left.min(right);
        blocks.push(Nest::new(source, target, len, Pairs::new()));
        let behind = |at: i64, all: u64| (all > len).then(|| (at + len as i64, all - len));
        one = behind(source, left).or_else(|| from.next());
        other = behind(target, right).or_else(|| to.next());
    }
    blocks
}

/// Bytes at each step of all loops.
fn step_bytes(op: &Op) -> u64 {
    op.loops.iter().fold(op.bytes, |bytes, one| bytes / one.count)
}

/// The pieces of a list if they are few, each as long as it goes on.
fn listed(body: &Body) -> Option<Fields> {
    let mut fields = Fields::new();
    match body {
        Body::Indexed { block, scale, indices } if indices.len() <= BLOCKS_MAX => {
            for index in indices.iter() {
                melt_into(&mut fields, (u64::from(*index) * scale) as i64, *block);
            }
        }
        Body::Runs(pieces) if pieces.len() <= FIELDS_MAX => fields.extend(lengths(pieces)),
        _ => return None,
    }
    (fields.len() <= FIELDS_MAX).then_some(fields)
}

/// Pieces of `unit` bytes together, and the loops around them.
fn fields(op: &Op, unit: u64) -> Option<(Loops, Fields)> {
    let mut loops = op.loops.clone();
    let mut fields = match &op.body {
        Body::Block(len) => vec![(0, *len)],
        list => listed(list)?,
    };
    let mut bytes = step_bytes(op);
    while bytes < unit {
        let one = loops.pop()?;
        let count = one.count.min(unit / bytes);
        if !unit.is_multiple_of(bytes * count) || !one.count.is_multiple_of(count) {
            return None;
        }
        if fields.len() as u64 * count > FIELDS_MAX as u64 {
            return None;
        }
        if one.count > count {
            loops.push(Loop { count: one.count / count, stride: one.stride.checked_mul(count as i64)? });
        }
        let at = |step: u64| step as i64 * one.stride;
        let shifted = |step: u64| fields.iter().map(move |(place, len)| (at(step) + place, *len));
        fields = (0..count).flat_map(shifted).collect();
        bytes *= count;
    }
    Some((loops, fields))
}
