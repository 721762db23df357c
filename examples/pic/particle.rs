//! The physics of the Parallel Research Kernels' particles in cells: charges stand at the corners of the cells of a square grid, column by column
//! of the other sign, and particles start in the middle of a cell with such charges that each goes by whole cells in each step of time. So where a
//! particle is after any number of steps is known. It knows no chares.
//!
//! After E. Georganas, R. F. Van der Wijngaart, T. G. Mattson, Design and implementation of a parallel research kernel for assessing dynamic
//! load-balancing capabilities, IPDPS 2016.

use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};

/// How far from where it belongs a particle may be because of rounding.
const ACCURACY: f64 = 1e-5;

/// A cell, by its column and row.
pub(crate) type Cell = [u32; 2];

/// The grid, whose opposite sides touch, and the particles on it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Grid {
    /// Cells along each side, an even number.
    pub(crate) side: u32,
    /// Particles, on average over all draws.
    pub(crate) particles: u32,
    /// How many times as many particles a column has as the one before it.
    pub(crate) ratio: f64,
    /// Particles go `2 * leap + 1` columns in each step.
    pub(crate) leap: u32,
    /// And so many rows.
    pub(crate) climb: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Particle {
    pub(crate) number: u64,
    pub(crate) at: [f64; 2],
    speed: [f64; 2],
    charge: f64,
    start: [f64; 2],
}

impl Grid {
    /// The charge at the corners in a column, the last of which is the first one again.
    pub(crate) fn charge_at(self, column: u32) -> f64 {
        if column.is_multiple_of(2) { 1.0 } else { -1.0 }
    }

    /// Columns that a particle goes in a step.
    pub(crate) fn columns_each(self) -> u32 {
        2 * self.leap + 1
    }

    /// The particles that start in a cell: fewer from column to column, in geometric progression.
    pub(crate) fn particles_of(self, [column, row]: Cell) -> Vec<Particle> {
        let columns: f64 = (0..self.side).map(|column| self.ratio.powi(column as i32)).sum();
        let first = f64::from(self.particles) / (columns * f64::from(self.side));
        let mean = first * self.ratio.powi(column as i32);
        let cell = u64::from(row) * u64::from(self.side) + u64::from(column);
        let one_more = SmallRng::seed_from_u64(cell).random_bool(mean.fract());
        let count = mean as u64 + u64::from(one_more);
        (0..count).map(|number| self.particle((cell << 16) + number, [column, row])).collect()
    }

    fn particle(self, number: u64, [column, row]: Cell) -> Particle {
        // What half a step's width and height are to the corners.
        let to_corner = 0.5_f64.hypot(0.5);
        let unit = to_corner.powi(3);
        let charge = f64::from(self.columns_each()) * self.charge_at(column) * unit;
        let start = [column, row].map(|along| f64::from(along) + 0.5);
        Particle { number, at: start, speed: [0.0, self.climb.into()], charge, start }
    }

    /// The cell in which a particle is.
    pub(crate) fn cell_of(self, particle: &Particle) -> Cell {
        particle.at.map(|along| along as u32)
    }
}

impl Particle {
    /// One step of time, by the forces of the corners of its cell, which have these charges: at the bottom from left to right, then at the top.
    pub(crate) fn go(&mut self, grid: Grid, corners: [f64; 4]) {
        let side = f64::from(grid.side);
        let force = self.force(corners);
        for ((at, speed), force) in self.at.iter_mut().zip(&mut self.speed).zip(force) {
            *at = (*at + *speed + force / 2.0).rem_euclid(side);
            *speed += force;
        }
    }

    fn force(&self, corners: [f64; 4]) -> [f64; 2] {
        let cell = self.at.map(f64::floor);
        let mut sum = [0.0; 2];
        for ((right, up), charge) in [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].into_iter().zip(corners)
        {
            let (x, y) = (self.at[0] - cell[0] - right, self.at[1] - cell[1] - up);
            let force = self.charge * charge / x.hypot(y).powi(3);
            sum[0] += force * x;
            sum[1] += force * y;
        }
        sum
    }

    /// Whether it is not where it belongs after so many steps.
    pub(crate) fn is_misplaced(&self, grid: Grid, steps: u32) -> bool {
        let each = [grid.columns_each(), grid.climb].map(f64::from);
        let side = f64::from(grid.side);
        (0..2).any(|axis| {
            let expected = (self.start[axis] + each[axis] * f64::from(steps)).rem_euclid(side);
            (self.at[axis] - expected).abs() > ACCURACY
        })
    }
}
