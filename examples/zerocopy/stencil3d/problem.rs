//! Problem: the box, its division into blocks, and the right answer. It knows no chare types.

use crate::grid::{Extent, Grid, Side};
use chare::Buffer;
use chare_examples::ports::RegistrationMode;
use serde::{Deserialize, Serialize};

/// The index of a block.
pub(crate) type Place = (usize, usize, usize);

/// What is computed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Points of the whole box.
    pub(crate) points: Extent,
    /// Points of a block.
    pub(crate) block: Extent,
    pub(crate) iterations: u32,
    /// When faces that are nocopy arguments are registered.
    pub(crate) registration: RegistrationMode,
    /// Whether blocks are compared with the whole that one process alone computes, a readonly value.
    pub(crate) is_verified: bool,
}

impl Problem {
    /// Blocks along each axis.
    pub(crate) fn blocks(&self) -> Extent {
        [0, 1, 2].map(|axis| self.points[axis] / self.block[axis])
    }

    /// A block at first.
    pub(crate) fn grid(&self) -> Grid {
        Grid::new(self.block, self.block)
    }

    /// The block beyond a side; the box continues at its opposite side.
    pub(crate) fn neighbour(&self, place: Place, side: Side) -> Place {
        let (blocks, mut place) = (self.blocks(), Extent::from(place));
        let (axis, is_upper) = side.axis();
        let step = if is_upper { 1 } else { blocks[axis] - 1 };
        place[axis] = (place[axis] + step) % blocks[axis];
        place.into()
    }

    /// The whole box after all iterations, as one process alone computes it: a readonly value, for [`Problem::check`].
    pub(crate) fn solve(&self) -> Buffer<f64> {
        Grid::solve(self.points, self.block, self.iterations).rows().collect::<Vec<_>>().concat().into()
    }

    /// Compares a block with its part of the whole, if that is asked for.
    ///
    /// # Panics
    /// If they differ.
    pub(crate) fn check(&self, place: Place, grid: &Grid) {
        if !self.is_verified {
            return;
        }
        let whole = chare::readonly::<Buffer<f64>>();
        let Self { points, block, .. } = self;
        let extent = Extent::from(place);
        let [first_x, first_y, first_z] = [0, 1, 2].map(|axis| extent[axis] * block[axis]);
        for (number, row) in grid.rows().enumerate() {
            let (y, z) = (number % block[1], number / block[1]);
            let start = ((first_z + z) * points[1] + first_y + y) * points[0] + first_x;
            let expected = &whole[start..start + block[0]];
            assert!(row == expected, "block {place:?} differs in row {y} of layer {z}");
        }
    }
}
