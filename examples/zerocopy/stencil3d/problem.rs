//! Problem: the box, its division into blocks, and the right answer. It knows no chare types.

use crate::heat::{self, Extent};
use chare::Buffer;
use chare_examples::ports::RegistrationMode;
use chare_examples::stencil::{Grid, Side};
use serde::{Deserialize, Serialize};

/// The index of a block.
pub(crate) type Place = (u64, u64, u64);

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
    pub(crate) fn blocks(&self) -> [u64; 3] {
        [0, 1, 2].map(|axis| (self.points[axis] / self.block[axis]) as u64)
    }

    /// A block at first.
    pub(crate) fn grid(&self) -> Grid<3> {
        heat::grid(self.block, self.block)
    }

    /// Sweeps a block.
    pub(crate) fn sweep(&self, grid: &mut Grid<3>) {
        heat::sweep(grid, self.block);
    }

    /// The block beyond a side; the box continues at its opposite side.
    pub(crate) fn neighbour(&self, place: Place, side: Side) -> Place {
        side.around(place.into(), self.blocks()).into()
    }

    /// The whole box after all iterations, as one process alone computes it: a readonly value, for [`Problem::check`].
    pub(crate) fn solve(&self) -> Buffer<f64> {
        let whole = heat::solve(self.points, self.block, self.iterations);
        whole.lines().map(|(_, points)| points).collect::<Vec<_>>().concat().into()
    }

    /// Compares a block with its part of the whole, if that is asked for.
    ///
    /// # Panics
    /// If they differ.
    pub(crate) fn check(&self, place: Place, grid: &Grid<3>) {
        if !self.is_verified {
            return;
        }
        let whole = chare::readonly::<Buffer<f64>>();
        let Self { points, block, .. } = self;
        let place_of_block = <[u64; 3]>::from(place);
        let first = [0, 1, 2].map(|axis| place_of_block[axis] as usize * block[axis]);
        for ([_, y, z], row) in grid.lines() {
            let start = ((first[2] + z) * points[1] + first[1] + y) * points[0] + first[0];
            let expected = &whole[start..start + block[0]];
            assert!(row == expected, "block {place:?} differs in row {y} of layer {z}");
        }
    }
}
