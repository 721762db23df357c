//! Exchanges of NAS LU, a solver: five doubles of each point of an edge of the inside, which land in the frame.

use super::by_hand::{ByHand, Loops};
use super::kernel::{Array, End, Kernel, Precision};
use super::tree::Tree;

/// Doubles of a point.
const POINT: usize = 5;

/// Points along both dimensions, without the frame.
const SIZES: [usize; 7] = [12, 33, 64, 102, 162, 408, 1020];

pub(super) fn kernels() -> Vec<Kernel> {
    SIZES.into_iter().flat_map(|inside| [along_x(inside), along_y(inside)]).collect()
}

/// Points of a row of the array, with the frame.
fn width(inside: usize) -> usize {
    inside + 2
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

/// The last row, which lands before the first.
pub(super) struct LuX {
    inside: usize,
}

impl LuX {
    fn start(&self, end: End) -> usize {
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
pub(super) struct LuY {
    inside: usize,
}

impl Loops for LuY {
    fn each_row(&self, end: End, mut row: impl FnMut(usize, usize, usize)) {
        let column = if end == End::Source { self.inside } else { 0 };
        for at in 1..=self.inside {
            row(0, POINT * (column + width(self.inside) * at), POINT);
        }
    }
}
