//! Exchanges of NAS LU, a solver: five doubles of each point of an edge of the inside, which land in the frame.

use super::by_hand::nas::{LuX, LuY, POINT, width};
use super::by_hand::{ByHand, End};
use super::kernel::{Array, Kernel, Precision};
use super::tree::Tree;

/// Points along both dimensions, without the frame.
const SIZES: [usize; 7] = [12, 33, 64, 102, 162, 408, 1020];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().flat_map(|inside| [along_x(inside), along_y(inside)]).collect()
}

fn along_x(inside: usize) -> Kernel {
    let loops = LuX { inside };
    let starts = [End::Source, End::Target].map(|end| loops.start(end));
    kernel("NAS_LU_x", inside, starts, Tree::Element.contiguous(POINT * inside), ByHand::LuX(loops))
}

fn along_y(inside: usize) -> Kernel {
    let tree = Tree::Element.contiguous(POINT).vector(inside, 1, width(inside));
    let row = POINT * width(inside);
    kernel("NAS_LU_y", inside, [row + POINT * inside, row], tree, ByHand::LuY(LuY { inside }))
}

fn kernel(name: &'static str, inside: usize, starts: [usize; 2], tree: Tree, by_hand: ByHand) -> Kernel {
    let len = POINT * width(inside) * width(inside);
    Kernel {
        name,
        size: format!("{inside}x{inside}"),
        precision: Precision::Double,
        arrays: vec![Array::apart(len, starts, tree)],
        by_hand,
    }
}
