//! Loops at even distances: half planes of vectors of MILC, rows of objects in two dimensions.

use super::loops::End;
use super::loops::Loops;

/// Floats of a vector: three complex numbers.
pub(in crate::ddtbench) const VECTOR: usize = 6;

/// Of every second half along z, half a plane.
pub(in crate::ddtbench) struct ZDown {
    pub(in crate::ddtbench) size: [usize; 4],
}

impl Loops for ZDown {
    fn each_row(&self, _end: End, mut row: impl FnMut(usize, usize, usize)) {
        let [x, y, z, t] = self.size;
        for at_t in 0..t {
            for at_z in [0, z / 2] {
                row(0, VECTOR * x * y * (at_z + z * at_t), VECTOR * x * (y / 2));
            }
        }
    }
}

/// Every second row of an array.
pub(in crate::ddtbench) struct Rows {
    pub(in crate::ddtbench) count: usize,
    /// Elements of a row.
    pub(in crate::ddtbench) len: usize,
}

impl Loops for Rows {
    fn each_row(&self, _end: End, mut row: impl FnMut(usize, usize, usize)) {
        for at in 0..self.count {
            row(0, 2 * self.len * at, self.len);
        }
    }
}
