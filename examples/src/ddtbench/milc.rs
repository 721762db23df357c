//! Exchange of MILC, lattice quantum chromodynamics: vectors of SU(3) sent down along z.

use super::by_hand::ByHand;
use super::by_hand::strided::{VECTOR, ZDown};
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// Points of the lattice along x, y, z and t.
const SIZES: [[usize; 4]; 4] = [[16, 16, 16, 16], [8, 16, 16, 16], [8, 8, 8, 16], [8, 8, 8, 8]];

/// Classes: DDTBench's largest lattice, and those of twice as many points along two of the axes, in turn.
const CLASSES: [(&str, [usize; 4]); 4] =
    [("B ", [16, 16, 16, 16]), ("C ", [16, 16, 32, 32]), ("D ", [32, 32, 32, 32]), ("E ", [32, 32, 64, 64])];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().map(|size| kernel("", size)).collect()
}

pub(super) fn classes() -> Vec<Kernel> {
    CLASSES.into_iter().map(|(class, size)| kernel(class, size)).collect()
}

fn kernel(class: &str, size: [usize; 4]) -> Kernel {
    let [x, y, z, t] = size;
    let vectors = Tree::Element.contiguous(VECTOR).vector(t, x * y / 2, x * y * z / 2);
    let bytes = VECTOR * Precision::Single.bytes();
    let tree = vectors.hvector(2, 1, bytes * x * y * z * t / 2);
    Kernel {
        name: "MILC_su3_zd",
        size: format!("{class}{x}x{y}x{z}x{t}"),
        precision: Precision::Single,
        arrays: vec![Array::alike(VECTOR * x * y * z * t, 0, tree)],
        by_hand: ByHand::ZDown(ZDown { size }),
    }
}
