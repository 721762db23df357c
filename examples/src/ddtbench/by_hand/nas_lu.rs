//! Loops of NAS LU: edges of a frame.

use super::loops::End;
use super::loops::Loops;

/// Doubles of a point.
pub(in crate::ddtbench) const POINT: usize = 5;

/// Points of a row of the array, with the frame.
pub(in crate::ddtbench) fn width(inside: usize) -> usize {
    inside + 2
}

/// The last row, which lands before the first.
pub(in crate::ddtbench) struct LuX {
    pub(in crate::ddtbench) inside: usize,
}

impl LuX {
    pub(in crate::ddtbench) fn start(&self, end: End) -> usize {
        let row = if end == End::Source { self.inside } else { 0 };
        POINT * (1 + width(self.inside) * row)
    }
}

impl Loops for LuX {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        row(0, self.start(end), POINT * self.inside);
    }
}

/// The last column, which lands before the first.
pub(in crate::ddtbench) struct LuY {
    pub(in crate::ddtbench) inside: usize,
}

impl Loops for LuY {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let column = if end == End::Source { self.inside } else { 0 };
        for at in 1..=self.inside {
            row(0, POINT * (column + width(self.inside) * at), POINT);
        }
    }
}
