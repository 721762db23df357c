//! A piece of the membrane: the wave equation in steps of time, on points in a rectangle.

use std::mem;

/// A quarter of the largest step that stays stable, squared: how far a wave comes in one step of time, in points.
const SPEED_SQUARED: f64 = 0.125;

/// Displacements now and one step before, row by row.
pub(crate) struct Field {
    columns: usize,
    now: Vec<f64>,
    before: Vec<f64>,
}

/// Displacements along the four sides of a piece, outside of it: left, right, below, above.
pub(crate) type Surroundings = [Vec<f64>; 4];

impl Field {
    /// At rest, displaced as `shape` says for column and row.
    pub(crate) fn new(columns: usize, rows: usize, shape: impl Fn(usize, usize) -> f64) -> Self {
        let now: Vec<f64> =
            (0..rows * columns).map(|point| shape(point % columns, point / columns)).collect();
        Self { columns, before: now.clone(), now }
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.now
    }

    /// The points along the four sides, inside.
    pub(crate) fn edges(&self) -> Surroundings {
        let rows = self.now.len() / self.columns;
        let column = |column: usize| (0..rows).map(|row| self.now[row * self.columns + column]).collect();
        let row = |row: usize| self.now[row * self.columns..][..self.columns].to_vec();
        [column(0), column(self.columns - 1), row(0), row(rows - 1)]
    }

    /// One step of time.
    pub(crate) fn step(&mut self, [left, right, below, above]: &Surroundings) {
        let (columns, rows) = (self.columns, self.now.len() / self.columns);
        let at = |column: usize, row: usize| self.now[row * columns + column];
        for row in 0..rows {
            for column in 0..columns {
                let west = if column == 0 { left[row] } else { at(column - 1, row) };
                let east = if column + 1 == columns { right[row] } else { at(column + 1, row) };
                let south = if row == 0 { below[column] } else { at(column, row - 1) };
                let north = if row + 1 == rows { above[column] } else { at(column, row + 1) };
                let here = at(column, row);
                let bend = (west + east) + (south + north) - 4.0 * here;
                let before = &mut self.before[row * columns + column];
                *before = 2.0 * here - *before + SPEED_SQUARED * bend;
            }
        }
        mem::swap(&mut self.now, &mut self.before);
    }
}
