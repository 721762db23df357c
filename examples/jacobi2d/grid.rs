//! Grid of one block: its points with a frame of one point around them, which holds the neighbours' edges or the rectangle's
//! boundary. It knows no chares.

use crate::problem::Side;
use std::ops::Range;

/// A part of the rectangle, swept by Jacobi's method.
#[derive(Debug)]
pub(crate) struct Grid {
    /// Unknowns of the whole, from left to right and from bottom to top.
    whole: (u64, u64),
    columns: Range<u64>,
    rows: Range<u64>,
    /// Row by row, frame included.
    now: Vec<f64>,
    next: Vec<f64>,
}

/// The exact solution at a point of the framed whole; the longer side has length 1.
fn exact(whole: (u64, u64), (column, row): (u64, u64)) -> f64 {
    let spacing = 1.0 / (whole.0.max(whole.1) + 1) as f64;
    let (x, y) = (column as f64 * spacing, row as f64 * spacing);
    x * x - y * y
}

impl Grid {
    /// The unknowns `columns` x `rows`, counted from 0 over the whole: 0 inside, the boundary where it is.
    pub(crate) fn new(whole: (u64, u64), columns: Range<u64>, rows: Range<u64>) -> Self {
        let mut grid = Self { whole, columns, rows, now: Vec::new(), next: Vec::new() };
        grid.now = vec![0.0; (grid.width() + 2) * (grid.height() + 2)];
        for row in 0..grid.height() + 2 {
            for column in 0..grid.width() + 2 {
                let place = grid.place(column, row);
                if place.0 == 0 || place.0 > whole.0 || place.1 == 0 || place.1 > whole.1 {
                    let at = grid.at(column, row);
                    grid.now[at] = exact(whole, place);
                }
            }
        }
        grid.next = grid.now.clone();
        grid
    }

    fn width(&self) -> usize {
        (self.columns.end - self.columns.start) as usize
    }

    fn height(&self) -> usize {
        (self.rows.end - self.rows.start) as usize
    }

    fn at(&self, column: usize, row: usize) -> usize {
        row * (self.width() + 2) + column
    }

    /// Where a point of the framed block lies in the framed whole.
    fn place(&self, column: usize, row: usize) -> (u64, u64) {
        (self.columns.start + column as u64, self.rows.start + row as u64)
    }

    /// How many points an edge has.
    pub(crate) fn edge_len(&self, side: Side) -> usize {
        match side {
            Side::Left | Side::Right => self.height(),
            Side::Below | Side::Above => self.width(),
        }
    }

    /// The `position`-th point of the outermost line of unknowns on a side, or of the frame beyond it.
    fn edge_at(&self, side: Side, in_frame: bool, position: usize) -> usize {
        let inwards = usize::from(!in_frame);
        match side {
            Side::Left => self.at(inwards, position + 1),
            Side::Right => self.at(self.width() + 1 - inwards, position + 1),
            Side::Below => self.at(position + 1, inwards),
            Side::Above => self.at(position + 1, self.height() + 1 - inwards),
        }
    }

    /// The `position`-th unknown along a side, for the neighbour there.
    pub(crate) fn edge(&self, side: Side, position: usize) -> f64 {
        self.now[self.edge_at(side, false, position)]
    }

    /// Takes over the edge of the neighbour on a side.
    pub(crate) fn set_frame(&mut self, side: Side, edge: &[f64]) {
        for (position, value) in edge.iter().enumerate() {
            let at = self.edge_at(side, true, position);
            self.now[at] = *value;
        }
    }

    /// One iteration; returns the largest change of a point.
    pub(crate) fn sweep(&mut self) -> f64 {
        let stride = self.width() + 2;
        let mut change = 0.0_f64;
        for row in 1..=self.height() {
            for at in self.at(1, row)..self.at(self.width() + 1, row) {
                let (now, next) = (&self.now, &mut self.next);
                next[at] = 0.25 * (now[at - 1] + now[at + 1] + now[at - stride] + now[at + stride]);
                change = change.max((next[at] - now[at]).abs());
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        // The boundary is the same in both; what neighbours sent is replaced before the next sweep.
        change
    }

    /// The largest distance from the exact solution.
    pub(crate) fn error(&self) -> f64 {
        let points = (1..=self.height()).flat_map(|row| (1..=self.width()).map(move |column| (column, row)));
        points
            .map(|(column, row)| {
                let value = self.now[self.at(column, row)];
                (value - exact(self.whole, self.place(column, row))).abs()
            })
            .fold(0.0, f64::max)
    }
}
