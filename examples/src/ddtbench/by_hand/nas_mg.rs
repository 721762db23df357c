//! Loops of NAS MG: faces of a grid.

use super::loops::End;
use super::loops::Loops;

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
