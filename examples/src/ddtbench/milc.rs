//! Exchange of MILC, lattice quantum chromodynamics: vectors of SU(3) sent down along z.

use super::by_hand::{ByHand, Loops};
use super::kernel::{Array, End, Kernel, Precision};
use super::tree::Tree;

/// Floats of a vector: three complex numbers.
const VECTOR: usize = 6;

/// Points of the lattice along x, y, z and t.
const SIZES: [[usize; 4]; 4] = [[16, 16, 16, 16], [8, 16, 16, 16], [8, 8, 8, 16], [8, 8, 8, 8]];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().map(kernel).collect()
}

fn kernel(size: [usize; 4]) -> Kernel {
    let [x, y, z, t] = size;
    let vectors = Tree::Element.contiguous(VECTOR).vector(t, x * y / 2, x * y * z / 2);
    let bytes = VECTOR * Precision::Single.bytes();
    let tree = vectors.hvector(2, 1, bytes * x * y * z * t / 2);
    Kernel {
        name: "MILC_su3_zd",
        size: format!("{x}x{y}x{z}x{t}"),
        precision: Precision::Single,
        arrays: vec![Array::alike(VECTOR * x * y * z * t, 0, tree)],
        by_hand: ByHand::ZDown(ZDown { size }),
    }
}

/// Of every second half along z, half a plane.
pub(super) struct ZDown {
    size: [usize; 4],
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
