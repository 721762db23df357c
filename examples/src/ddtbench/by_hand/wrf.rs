//! Loops of WRF: boxes of arrays in two, three and four dimensions.

use super::loops::End;
use super::loops::Loops;
use std::ops::Range;

/// Arrays of each number of dimensions.
pub(in crate::ddtbench) const ARRAYS_2D: usize = 4;
pub(in crate::ddtbench) const ARRAYS_3D: usize = 3;
pub(in crate::ddtbench) const ARRAYS_4D: usize = 2;

/// Scalars of an array in four dimensions; the first is none.
pub(in crate::ddtbench) const SCALARS: usize = 2;
pub(in crate::ddtbench) const FIRST_SCALAR: usize = 1;

/// Layers of the atmosphere, all of which are selected.
pub(in crate::ddtbench) const LAYERS: usize = 65;

/// A box of arrays.
pub(in crate::ddtbench) struct Halo {
    /// Elements of an array along i and j.
    pub(in crate::ddtbench) size: [usize; 2],
    pub(in crate::ddtbench) i: Range<usize>,
    pub(in crate::ddtbench) j: Range<usize>,
}

impl Loops for Halo {
    fn each_row(&self, _end: End, mut row: impl FnMut(usize, usize, usize)) {
        let ([i_size, _], Self { i, j, .. }) = (self.size, self);
        for array in 0..ARRAYS_2D {
            for j in j.clone() {
                row(array, i.start + i_size * j, i.len());
            }
        }
        for array in ARRAYS_2D..ARRAYS_2D + ARRAYS_3D + ARRAYS_4D {
            let scalar = if array < ARRAYS_2D + ARRAYS_3D { 0 } else { FIRST_SCALAR };
            for j in j.clone() {
                for k in 0..LAYERS {
                    row(array, i.start + i_size * (k + LAYERS * (j + self.size[1] * scalar)), i.len());
                }
            }
        }
    }
}
