//! Ranges of a stream: the operations that a part of the packed stream is.
//!
//! Loops, lists and groups are cut where the range begins and ends; what lies between stays as it is.

use crate::value::op::{Body, Loop, Op, Piece};
use std::ops::Range;

/// The operations of a range of the stream of `ops`, which lies within it.
pub(crate) fn range(ops: &[Op], range: Range<u64>) -> Vec<Op> {
    let mut cut = Vec::new();
    push_range(ops, 0, range, &mut cut);
    cut
}

/// Appends a range of operations that are moved `by` bytes.
fn push_range(ops: &[Op], by: i64, wanted: Range<u64>, cut: &mut Vec<Op>) {
    let mut begin = 0;
    for op in ops {
        let end = begin + op.bytes;
        let within = wanted.start.max(begin)..wanted.end.min(end);
        if within.start < within.end {
            push(op, by, within.start - begin..within.end - begin, cut);
        }
        begin = end;
    }
}

fn push(op: &Op, by: i64, wanted: Range<u64>, cut: &mut Vec<Op>) {
    if wanted == (0..op.bytes) {
        return cut.push(Op { at: op.at + by, ..op.clone() });
    }
    if let Some((outer, rest)) = op.loops.split_first() {
        let each = op.bytes / outer.count;
        let step = |step: u64| by + step as i64 * outer.stride;
        let one = Op { loops: rest.into(), bytes: each, ..op.clone() };
        return in_steps(outer.count, each, wanted, |steps, within| {
            let count = steps.end - steps.start;
            match within {
                Some(within) => push(&one, step(steps.start), within, cut),
                None => {
                    let loops = std::iter::once(Loop { count, ..*outer }).chain(rest.iter().copied());
                    let (at, bytes) = (op.at + step(steps.start), count * each);
                    cut.push(Op { at, loops: loops.collect(), bytes, body: op.body.clone() });
                }
            }
        });
    }
    let at = op.at + by;
    let bare = |body: Body, bytes| Op { at, loops: Default::default(), body, bytes };
    match &op.body {
        Body::Block(_) => cut.push(Op::block(at + wanted.start as i64, wanted.end - wanted.start)),
        Body::Indexed { block, scale, indices } => {
            in_steps(indices.len() as u64, *block, wanted, |steps, within| {
                let place = |index: u32| at + (u64::from(index) * scale) as i64;
                let some = &indices[steps.start as usize..steps.end as usize];
                match within {
                    Some(within) => {
                        let start = place(some[0]) + within.start as i64;
                        cut.push(Op::block(start, within.end - within.start));
                    }
                    None => {
                        let body = Body::Indexed { block: *block, scale: *scale, indices: some.into() };
                        cut.push(bare(body, some.len() as u64 * block));
                    }
                }
            });
        }
        Body::Runs(pieces) => {
            let first = pieces.partition_point(|piece| piece.end <= wanted.start);
            let mut begin = if first == 0 { 0 } else { pieces[first - 1].end };
            let (mut some, mut done) = (Vec::new(), 0);
            for piece in &pieces[first..] {
                let within = wanted.start.max(begin)..wanted.end.min(piece.end);
                if within.start >= within.end {
                    break;
                }
                done += within.end - within.start;
                some.push(Piece { at: piece.at + (within.start - begin) as i64, end: done });
                begin = piece.end;
            }
            cut.push(bare(Body::Runs(some.into()), done));
        }
        Body::Each { offsets, of } => {
            let each = op.bytes / offsets.len() as u64;
            in_steps(offsets.len() as u64, each, wanted, |steps, within| {
                let some = &offsets[steps.start as usize..steps.end as usize];
                match within {
                    Some(within) => push_range(of, at + some[0], within, cut),
                    None => {
                        let body = Body::Each { offsets: some.into(), of: of.clone() };
                        cut.push(bare(body, some.len() as u64 * each));
                    }
                }
            });
        }
        Body::Group(of) => push_range(of, at, wanted, cut),
    }
}

/// Cuts a range of steps of `each` bytes: calls with a step and a part of it where the range begins or ends within one, and with the
/// steps that are whole.
fn in_steps(count: u64, each: u64, wanted: Range<u64>, mut call: impl FnMut(Range<u64>, Option<Range<u64>>)) {
    let mut at = wanted.start;
    while at < wanted.end {
        let (step, within) = (at / each, at % each);
        let whole = if within == 0 { (wanted.end / each).min(count) } else { step };
        if whole > step {
            call(step..whole, None);
            at = whole * each;
        } else {
            let end = each.min(wanted.end - step * each);
            call(step..step + 1, Some(within..end));
            at = step * each + end;
        }
    }
}
