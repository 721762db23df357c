//! A walk through the stream: pieces of memory in the order of the type map, from any place on.
//!
//! It gives [`Strip`]s: blocks at even distances, so that kernels loop and not the walk. A strip may be taken in parts, within
//! a block, too.

use crate::value::op::{Body, List, Op};
use smallvec::SmallVec;

/// `count` blocks, `stride` apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Strip {
    pub(crate) at: i64,
    pub(crate) block: u64,
    pub(crate) stride: i64,
    pub(crate) count: u64,
}

impl Strip {
    fn piece(at: i64, block: u64) -> Self {
        Self { at, block, stride: 0, count: 1 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.block * self.count
    }
}

/// Operations, and which step of which of them comes next.
#[derive(Debug, Clone)]
struct Frame<'a> {
    ops: &'a [Op],
    op: usize,
    step: u64,
    base: i64,
}

#[derive(Debug, Clone)]
pub(crate) struct Walk<'a> {
    frames: SmallVec<[Frame<'a>; 4]>,
    /// What was begun; the last one comes first.
    begun: SmallVec<[Strip; 2]>,
}

/// The loops around a body that its strips do not cover.
fn outer(op: &Op) -> &[crate::value::op::Loop] {
    match op.body {
        Body::Block(_) => op.loops.split_last().map_or(&[], |(_, outer)| outer),
        _ => &op.loops,
    }
}

/// Steps of the body itself.
fn entries(op: &Op) -> u64 {
    match &op.body {
        Body::Block(_) | Body::Group(_) => 1,
        Body::Indexed { indices, .. } => indices.len() as u64,
        Body::Runs(pieces) => pieces.len() as u64,
        Body::Each { offsets, .. } => offsets.len() as u64,
    }
}

fn rounds(op: &Op) -> u64 {
    outer(op).iter().map(|one| one.count).product()
}

/// Where the body stands in this round of the loops.
fn place(op: &Op, base: i64, mut round: u64) -> i64 {
    outer(op).iter().rev().fold(base + op.at, |at, one| {
        let step = round % one.count;
        round /= one.count;
        at + step as i64 * one.stride
    })
}

impl<'a> Walk<'a> {
    /// From place `at` of the stream on.
    pub(crate) fn new(ops: &'a [Op], at: u64) -> Self {
        let mut walk = Self { frames: SmallVec::new(), begun: SmallVec::new() };
        walk.seek(ops, 0, at);
        walk
    }

    fn seek(&mut self, mut ops: &'a [Op], mut base: i64, mut at: u64) {
        while at > 0 {
            let mut op = 0;
            while op < ops.len() && ops[op].bytes <= at {
                at -= ops[op].bytes;
                op += 1;
            }
            let Some(one) = ops.get(op) else {
                self.frames.push(Frame { ops, op, step: 0, base });
                return;
            };
            let body = one.bytes / rounds(one);
            let (round, within) = (at / body, at % body);
            let (entry, left) = match &one.body {
                Body::Runs(pieces) => {
                    let entry = pieces.partition_point(|piece| piece.end <= within);
                    (entry as u64, within - entry.checked_sub(1).map_or(0, |before| pieces[before].end))
                }
                _ => (within / (body / entries(one)), within % (body / entries(one))),
            };
            let step = round * entries(one) + entry;
            self.frames.push(Frame { ops, op, step, base });
            match &one.body {
                Body::Group(of) | Body::Each { of, .. } => {
                    let frame = self.frames.last_mut().expect("it was pushed");
                    base = child(one, frame);
                    (ops, at) = (of, left);
                    if at == 0 {
                        break;
                    }
                }
                _ => {
                    // Whole blocks first, then a part of the next one.
                    let mut left = left;
                    while left > 0 {
                        left -= self.take(left).map_or(left, |strip| strip.bytes());
                    }
                    return;
                }
            }
        }
        self.frames.push(Frame { ops, op: 0, step: 0, base });
    }

    /// The next blocks, at most `most` bytes of them: part of a block only if `most` is less than one.
    pub(crate) fn take(&mut self, most: u64) -> Option<Strip> {
        if most == 0 {
            return None;
        }
        let strip = self.begun.pop().or_else(|| self.next_strip())?;
        let blocks = (most / strip.block).min(strip.count);
        if blocks == strip.count {
            return Some(strip);
        }
        let behind = |blocks: u64| Strip {
            at: strip.at + blocks as i64 * strip.stride,
            count: strip.count - blocks,
            ..strip
        };
        if blocks > 0 {
            self.begun.push(behind(blocks));
            return Some(Strip { count: blocks, ..strip });
        }
        if strip.count > 1 {
            self.begun.push(behind(1));
        }
        self.begun.push(Strip::piece(strip.at + most as i64, strip.block - most));
        Some(Strip::piece(strip.at, most))
    }

    /// The next pieces of a list and where it stands, if several whole ones are what comes next and have at most `most` bytes:
    /// lists are copied by kernels of their own.
    pub(crate) fn take_list(&mut self, most: u64) -> Option<(i64, u64, List<'a>)> {
        if !self.begun.is_empty() {
            return None;
        }
        let frame = self.frames.last_mut()?;
        let op = frame.ops.get(frame.op)?;
        let entries = entries(op);
        if frame.step >= rounds(op) * entries {
            return None;
        }
        let (round, entry) = (frame.step / entries, (frame.step % entries) as usize);
        let (count, bytes, list) = match &op.body {
            Body::Indexed { block, scale, indices } => {
                let count = (most / block).min(entries - entry as u64);
                let indices = &indices[entry..entry + count as usize];
                (count, count * block, List::Indexed { block: *block, scale: *scale, indices })
            }
            Body::Runs(pieces) => {
                let start = entry.checked_sub(1).map_or(0, |before| pieces[before].end);
                let left = &pieces[entry..];
                let pieces = &left[..left.partition_point(|piece| piece.end - start <= most)];
                let end = pieces.last().map_or(start, |last| last.end);
                (pieces.len() as u64, end - start, List::Runs { pieces, start })
            }
            Body::Block(_) | Body::Each { .. } | Body::Group(_) => return None,
        };
        if count < 2 {
            return None;
        }
        let at = place(op, frame.base, round);
        frame.step += count;
        Some((at, bytes, list))
    }

    /// What [`take`](Self::take) would give if it could give all.
    pub(crate) fn head(&mut self) -> Option<Strip> {
        if self.begun.is_empty() {
            let strip = self.next_strip()?;
            self.begun.push(strip);
        }
        self.begun.last().copied()
    }

    fn next_strip(&mut self) -> Option<Strip> {
        loop {
            let frame = self.frames.last_mut()?;
            let Some(op) = frame.ops.get(frame.op) else {
                self.frames.pop();
                continue;
            };
            let entries = entries(op);
            if frame.step >= rounds(op) * entries {
                (frame.op, frame.step) = (frame.op + 1, 0);
                continue;
            }
            let (round, entry) = match entries {
                1 => (frame.step, 0),
                _ => (frame.step / entries, (frame.step % entries) as usize),
            };
            let at = place(op, frame.base, round);
            match &op.body {
                Body::Block(block) => {
                    frame.step += 1;
                    let inner = op.loops.last();
                    return Some(inner.map_or(Strip::piece(at, *block), |inner| Strip {
                        at,
                        block: *block,
                        stride: inner.stride,
                        count: inner.count,
                    }));
                }
                Body::Indexed { block, scale, indices } => {
                    frame.step += 1;
                    let at = at + (u64::from(indices[entry]) * scale) as i64;
                    return Some(Strip::piece(at, *block));
                }
                Body::Runs(pieces) => {
                    frame.step += 1;
                    let start = entry.checked_sub(1).map_or(0, |before| pieces[before].end);
                    return Some(Strip::piece(at + pieces[entry].at, pieces[entry].end - start));
                }
                Body::Each { of, .. } | Body::Group(of) => {
                    let base = child(op, frame);
                    self.frames.push(Frame { ops: of, op: 0, step: 0, base });
                }
            }
        }
    }
}

/// Steps into the body of a group; returns where it stands.
fn child(op: &Op, frame: &mut Frame<'_>) -> i64 {
    let entries = entries(op);
    let at = place(op, frame.base, frame.step / entries);
    let offset = match &op.body {
        Body::Each { offsets, .. } => offsets[(frame.step % entries) as usize],
        _ => 0,
    };
    frame.step += 1;
    at + offset
}
