//! Loops of NAS: edges of the frame of LU, faces of the grid of MG.

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

/// The last face along x, which lands behind it.
pub(in crate::ddtbench) struct MgX {
    pub(in crate::ddtbench) size: [usize; 3],
}

impl Loops for MgX {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let [x, y, z] = self.size;
        let at_x = if end == End::Source { x - 2 } else { x - 1 };
        for at_z in 1..z - 1 {
            for at_y in 1..y - 1 {
                row(0, at_x + x * (at_y + y * at_z), 1);
            }
        }
    }
}

/// The last face along y, which lands behind it.
pub(in crate::ddtbench) struct MgY {
    pub(in crate::ddtbench) size: [usize; 3],
}

impl Loops for MgY {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let [x, y, z] = self.size;
        let at_y = if end == End::Source { y - 2 } else { y - 1 };
        for at_z in 1..z - 1 {
            row(0, 1 + x * (at_y + y * at_z), x - 2);
        }
    }
}

/// The first face along z, which lands before it.
pub(in crate::ddtbench) struct MgZ {
    pub(in crate::ddtbench) size: [usize; 3],
}

impl Loops for MgZ {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let [x, y, _] = self.size;
        let at_z = if end == End::Source { 1 } else { 0 };
        for at_y in 1..y - 1 {
            row(0, 1 + x * (at_y + y * at_z), x - 2);
        }
    }
}
