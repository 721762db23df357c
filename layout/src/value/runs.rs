//! Runs: the pieces of memory that a layout selects, in order, neighbours melted. What every kernel is tested against, and what
//! transfers by vectors are made of.

use crate::Raw;
use crate::value::walk::{Strip, Walk};

/// Iterator over the runs of a layout as `(place, length)` in bytes; see [`Raw::runs`].
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    walk: Walk<'a>,
    strip: Strip,
    left: u64,
    /// Read ahead: the next piece may continue it.
    open: Option<(i64, u64)>,
}

const NONE: Strip = Strip { at: 0, block: 0, stride: 0, count: 0 };

impl Raw {
    /// The pieces of memory in the order of the stream, as `(place, length)` in bytes. Pieces that touch are one, within loops
    /// and across them.
    ///
    /// ```
    /// use chare_layout::Raw;
    /// # fn main() -> Result<(), chare_layout::LayoutError> {
    /// let pair = Raw::bytes_of(4)?.hindexed(&[1, 1], &[8, 0])?;
    /// assert_eq!(pair.runs().collect::<Vec<_>>(), [(8, 4), (0, 4)]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn runs(&self) -> Runs<'_> {
        self.runs_within(0, self.bytes())
    }

    /// The runs of `len` bytes of the stream from place `at` on; fewer where the stream ends.
    ///
    /// Cost: the way to the place is as long as the layout is deep, plus a bisection of a list.
    pub fn runs_within(&self, at: u64, len: u64) -> Runs<'_> {
        let left = len.min(self.bytes().saturating_sub(at));
        Runs { walk: Walk::new(&self.ops, at), strip: NONE, left, open: None }
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
