//! Problem: heat in a box, which is divided into blocks, with points that stay heated, Jacobi's sweep of the others, and the right answer. It
//! knows no chare types.

use chare::Buffer;
use chare_examples::ports::RegistrationMode;
use chare_examples::stencil::{Grid, Line, Side};
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
        grid(self.block, self.block)
    }

    /// Sweeps a block.
    pub(crate) fn sweep(&self, grid: &mut Grid<3>) {
        sweep(grid, self.block);
    }

    /// The block beyond a side; the box continues at its opposite side.
    pub(crate) fn neighbour(&self, place: Place, side: Side) -> Place {
        side.around(place.into(), self.blocks()).into()
    }

    /// The whole box after all iterations, as one process alone computes it: a readonly value, for [`Problem::check`].
    pub(crate) fn solve(&self) -> Buffer<f64> {
        let whole = solve(self.points, self.block, self.iterations);
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

/// The temperature that heated points keep.
const HEATED: f64 = 255.0;

/// Points of a box along x, y and z.
pub(crate) type Extent = [usize; 3];

/// Whether a point stays heated: its coordinate is a multiple of `every` along any axis.
fn is_heated(place: Extent, every: Extent) -> bool {
    place.iter().zip(every).any(|(at, every)| at.is_multiple_of(every))
}

/// A cold box with heated points.
pub(crate) fn grid(extent: Extent, heated_every: Extent) -> Grid<3> {
    Grid::new(extent, |place| {
        let is_inside = (0..3).all(|axis| (1..=extent[axis]).contains(&place[axis]));
        let is_hot = is_inside && is_heated(place.map(|at| at - 1), heated_every);
        if is_hot { HEATED } else { 0.0 }
    })
}

/// Every point becomes the mean of itself and its six neighbours; heated points stay.
pub(crate) fn sweep(grid: &mut Grid<3>, heated_every: Extent) {
    let [_, row, layer] = grid.strides();
    grid.sweep(|now, Line { place: [_, y, z], start }, points| {
        for (x, point) in points.iter_mut().enumerate() {
            let at = start + x;
            let neighbours = [at, at - 1, at + 1, at - row, at + row, at - layer, at + layer];
            let mean = || neighbours.map(|position| now[position]).iter().sum::<f64>() / 7.0;
            *point = if is_heated([x, y, z], heated_every) { HEATED } else { mean() };
        }
    });
}

/// The result of `iterations` sweeps over a whole box that continues at its opposite side.
pub(crate) fn solve(extent: Extent, heated_every: Extent, iterations: u32) -> Grid<3> {
    let mut grid = grid(extent, heated_every);
    for _ in 0..iterations {
        for side in Side::all(3) {
            let face = grid.edge_values(side);
            grid.set_frame(side.opposite(), &face);
        }
        assert!(grid.make_ready(6), "nobody else reads it");
        sweep(&mut grid, heated_every);
    }
    grid
}
