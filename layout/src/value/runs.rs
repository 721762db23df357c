//! Runs: the pieces of memory that a layout selects, in order, neighbours melted. What every kernel is tested against, and what
//! transfers by vectors are made of.

use crate::value::op::Op;
use crate::value::walk::{Strip, Walk};

/// Iterator over the runs of a layout as `(place, length)` in bytes; see [`Raw::runs`](crate::Raw::runs).
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    walk: Walk<'a>,
    strip: Strip,
    left: u64,
    /// Read ahead: the next piece may continue it.
    open: Option<(i64, u64)>,
}

const NONE: Strip = Strip { at: 0, block: 0, stride: 0, count: 0 };

impl<'a> Runs<'a> {
    /// The runs of operations: those of `left` bytes of the stream from place `at` on.
    pub(crate) fn new(ops: &'a [Op], at: u64, left: u64) -> Self {
        Self { walk: Walk::new(ops, at), strip: NONE, left, open: None }
    }
}

impl Runs<'_> {
    fn next_piece(&mut self) -> Option<(i64, u64)> {
        if self.strip.count == 0 {
            self.strip = self.walk.take(self.left)?;
            self.left -= self.strip.bytes();
        }
        let piece = (self.strip.at, self.strip.block);
        self.strip.count -= 1;
        if self.strip.count > 0 {
            self.strip.at += self.strip.stride;
        }
        Some(piece)
    }
}

impl Iterator for Runs<'_> {
    type Item = (i64, u64);

    fn next(&mut self) -> Option<(i64, u64)> {
        while let Some((at, len)) = self.next_piece() {
            match &mut self.open {
                Some((start, open)) if *start + *open as i64 == at => *open += len,
                open => {
                    let closed = open.replace((at, len));
                    if closed.is_some() {
                        return closed;
                    }
                }
            }
        }
        self.open.take()
    }
}
