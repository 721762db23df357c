//! Exchanges of NAS MG, a multigrid solver: faces of the inside of a grid, which land in the frame.

use super::by_hand::ByHand;
use super::by_hand::nas::{MgX, MgY, MgZ};
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// Points along x, which varies fastest, y and z, with the frame.
const SIZES: [[usize; 3]; 4] = [[34, 18, 18], [130, 66, 66], [258, 130, 130], [514, 258, 258]];

/// Classes of NAS: 256, 512, 1,024 and 2,048 points along each axis of the whole grid, which four processes share, as in DDTBench's sizes,
/// of which the last two are the first two of these.
const CLASSES: [(&str, usize); 4] = [("B ", 256), ("C ", 512), ("D ", 1024), ("E ", 2048)];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().flat_map(|size| faces("", size)).collect()
}

pub(super) fn classes() -> Vec<Kernel> {
    let size = |points| [points, points / 2, points / 2].map(|points| points + 2);
    CLASSES.into_iter().flat_map(|(class, points)| faces(class, size(points))).collect()
}

fn faces(class: &str, size: [usize; 3]) -> [Kernel; 3] {
    [along_x(class, size), along_y(class, size), along_z(class, size)]
}

fn along_x(class: &str, size: [usize; 3]) -> Kernel {
    let [x, y, z] = size;
    let column = Tree::Element.vector(y - 2, 1, x);
    let tree = column.hvector(z - 2, 1, x * y * Precision::Double.bytes());
    let corner = x * (1 + y);
    kernel("NAS_MG_x", (class, size), [corner + x - 2, corner + x - 1], tree, ByHand::MgX(MgX { size }))
}

fn along_y(class: &str, size: [usize; 3]) -> Kernel {
    let [x, y, z] = size;
    let tree = Tree::Element.vector(z - 2, x - 2, x * y);
    let starts = [y - 2, y - 1].map(|row| 1 + x * (row + y));
    kernel("NAS_MG_y", (class, size), starts, tree, ByHand::MgY(MgY { size }))
}

fn along_z(class: &str, size: [usize; 3]) -> Kernel {
    let [x, y, _] = size;
    let tree = Tree::Element.vector(y - 2, x - 2, x);
    let starts = [1, 0].map(|plane| 1 + x * (1 + y * plane));
    kernel("NAS_MG_z", (class, size), starts, tree, ByHand::MgZ(MgZ { size }))
}

fn kernel(
    name: &'static str,
    (class, size): (&str, [usize; 3]),
    starts: [usize; 2],
    tree: Tree,
    by_hand: ByHand,
) -> Kernel {
    let [x, y, z] = size;
    Kernel {
        name,
        size: format!("{class}{x}x{y}x{z}"),
        precision: Precision::Double,
        arrays: vec![Array::apart(x * y * z, starts, tree)],
        by_hand,
    }
}
