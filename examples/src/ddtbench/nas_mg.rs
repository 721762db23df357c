//! Exchanges of NAS MG, a multigrid solver: faces of the inside of a grid, which land in the frame.

use super::by_hand::ByHand;
use super::by_hand::nas_mg::{MgX, MgY, MgZ};
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// Points along x, which varies fastest, y and z, with the frame.
const SIZES: [[usize; 3]; 4] = [[34, 18, 18], [130, 66, 66], [258, 130, 130], [514, 258, 258]];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().flat_map(|size| [along_x(size), along_y(size), along_z(size)]).collect()
}

fn along_x(size: [usize; 3]) -> Kernel {
    let [x, y, z] = size;
    let column = Tree::Element.vector(y - 2, 1, x);
    let tree = column.hvector(z - 2, 1, x * y * Precision::Double.bytes());
    let corner = x * (1 + y);
    kernel("NAS_MG_x", size, [corner + x - 2, corner + x - 1], tree, ByHand::MgX(MgX { size }))
}

fn along_y(size: [usize; 3]) -> Kernel {
    let [x, y, z] = size;
    let tree = Tree::Element.vector(z - 2, x - 2, x * y);
    let starts = [y - 2, y - 1].map(|row| 1 + x * (row + y));
    kernel("NAS_MG_y", size, starts, tree, ByHand::MgY(MgY { size }))
}

fn along_z(size: [usize; 3]) -> Kernel {
    let [x, y, _] = size;
    let tree = Tree::Element.vector(y - 2, x - 2, x);
    let starts = [1, 0].map(|plane| 1 + x * (1 + y * plane));
    kernel("NAS_MG_z", size, starts, tree, ByHand::MgZ(MgZ { size }))
}

fn kernel(name: &'static str, size: [usize; 3], starts: [usize; 2], tree: Tree, by_hand: ByHand) -> Kernel {
    let [x, y, z] = size;
    Kernel {
        name,
        size: format!("{x}x{y}x{z}"),
        precision: Precision::Double,
        arrays: vec![Array::apart(x * y * z, starts, tree)],
        by_hand,
    }
}
