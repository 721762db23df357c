//! Loops of MILC: half planes of vectors.

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
