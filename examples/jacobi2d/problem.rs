//! Problem: Laplace's equation on a rectangle, its division into blocks, and the wanted accuracy; the boundary of a block, Jacobi's sweep of it,
//! and its distance from the exact solution. It knows no chares.

use chare::Callback;
use chare_examples::stencil::{Grid, Side};
use serde::{Deserialize, Serialize};

/// A reduction costs about as much as some exchanges of edges; asking seldom hides it.
pub(crate) const SWEEPS_PER_VERDICT: u64 = 10;

/// What is to be solved, and who wants to know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) columns: u64,
    pub(crate) rows: u64,
    pub(crate) blocks: u64,
    pub(crate) tolerance: f64,
    /// The most iterations, whatever is reached by then.
    pub(crate) most: u64,
    pub(crate) iterations: Callback<u64>,
    pub(crate) error: Callback<f64>,
}

impl Problem {
    /// Whether to end after so many iterations, in the last of which no point changed by more than this.
    pub(crate) fn is_over(&self, iteration: u64, change: f64) -> bool {
        change <= self.tolerance || iteration >= self.most
    }

    /// The blocks beside a block.
    pub(crate) fn neighbours(&self, (column, row): (u64, u64)) -> impl Iterator<Item = (Side, (u64, u64))> {
        let blocks = [self.blocks; 2];
        Side::all(2).filter_map(move |side| Some((side, side.beside([column, row], blocks)?.into())))
    }
}

/// The exact solution at a point of the framed whole; the longer side has length 1.
fn exact(whole: [u64; 2], [column, row]: [u64; 2]) -> f64 {
    let spacing = 1.0 / (whole[0].max(whole[1]) + 1) as f64;
    let (x, y) = (column as f64 * spacing, row as f64 * spacing);
    x * x - y * y
}

impl Problem {
    fn whole(&self) -> [u64; 2] {
        [self.columns, self.rows]
    }

    /// The unknowns before those of a block, along an axis.
    fn first(&self, at: u64, axis: usize) -> u64 {
        at * self.whole()[axis] / self.blocks
    }

    /// The points of a block: 0 inside, the boundary where it is.
    pub(crate) fn grid(&self, (column, row): (u64, u64)) -> Grid<2> {
        let (whole, block) = (self.whole(), [column, row]);
        let first = [0, 1].map(|axis| self.first(block[axis], axis));
        let extent = [0, 1].map(|axis| (self.first(block[axis] + 1, axis) - first[axis]) as usize);
        Grid::new(extent, |[column, row]| {
            let place = [first[0] + column as u64, first[1] + row as u64];
            let is_boundary = (0..2).any(|axis| place[axis] == 0 || place[axis] > whole[axis]);
            if is_boundary { exact(whole, place) } else { 0.0 }
        })
    }

    /// The largest distance of a block from the exact solution.
    pub(crate) fn error_of(&self, (column, row): (u64, u64), grid: &Grid<2>) -> f64 {
        let first = [self.first(column, 0), self.first(row, 1)];
        let distance = |(place, points): ([usize; 2], &[f64])| {
            let row = first[1] + 1 + place[1] as u64;
            let columns = first[0] + 1..;
            let points = columns.zip(points);
            points
                .map(|(column, value)| (value - exact(self.whole(), [column, row])).abs())
                .fold(0.0, f64::max)
        };
        grid.lines().map(distance).fold(0.0, f64::max)
    }
}

/// One iteration; returns the largest change of a point.
pub(crate) fn sweep(grid: &mut Grid<2>) -> f64 {
    let [_, stride] = grid.strides();
    let mut change = 0.0_f64;
    grid.sweep(|now, line, points| {
        for (at, point) in (line.start..).zip(points) {
            *point = 0.25 * (now[at - 1] + now[at + 1] + now[at - stride] + now[at + stride]);
            change = change.max((*point - now[at]).abs());
        }
    });
    change
}
