//! A slab as a chare: as many rows of the matrix as every slab has, which it transforms and exchanges for its share of the columns.

use chare::layout::LayoutError;
use chare::prelude::*;
use chare::{Exchange, Layout, Partition};
use num_complex::Complex;
use rustfft::FftPlanner;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;

type Number = Complex<f64>;

/// The wave's frequencies along rows and columns; small enough for every size.
const FREQUENCIES: [usize; 2] = [1, 3];

/// The matrix and its division.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Rows and columns.
    pub(crate) size: usize,
    /// Slabs, which have as many rows each.
    pub(crate) slabs: usize,
}

impl Problem {
    /// Rows of a slab.
    fn height(&self) -> usize {
        self.size / self.slabs
    }

    /// A slab's rows, dealt out to all slabs: to each the columns that it is to have, column by column.
    fn columns(&self) -> Result<Partition<Number>, LayoutError> {
        let first = Layout::strided(&[self.height(), self.height()], &[1, self.size as isize])?;
        let columns: Result<Vec<_>, _> =
            (0..self.slabs).map(|slab| first.shifted((slab * self.height()) as i64)).collect();
        Partition::table(self.height() * self.size, &columns?)
    }

    /// Where the columns land among a slab's rows, a block from each slab: each column as a piece of a row.
    fn landing(&self) -> Result<Partition<Number>, LayoutError> {
        Partition::columns([self.height(), self.size], self.slabs)
    }

    /// The wave, or its transform scaled to peaks of one half, at a place of the matrix.
    fn expected(&self, is_wave: bool, [row, column]: [usize; 2]) -> Number {
        let size = self.size;
        if is_wave {
            let phase = (FREQUENCIES[0] * row + FREQUENCIES[1] * column) % size;
            return Number::new((TAU * phase as f64 / size as f64).cos(), 0.0);
        }
        let is_peak = |peak: [usize; 2]| [row, column] == peak;
        let mirrored = FREQUENCIES.map(|frequency| size - frequency);
        Number::new(if is_peak(FREQUENCIES) || is_peak(mirrored) { 0.5 } else { 0.0 }, 0.0)
    }
}

pub(crate) struct Slab {
    problem: Problem,
    rows: BufferMut<Number>,
    exchange: Exchange<Number>,
    columns: Partition<Number>,
    landing: Partition<Number>,
    planner: FftPlanner<f64>,
}

#[chare(array)]
impl Slab {
    #[entry]
    pub(crate) fn new(problem: Problem, exchange: Exchange<Number>) -> Self {
        let first = chare::this_index::<u64>() as usize * problem.height();
        let place = |at: usize| [first + at / problem.size, at % problem.size];
        let rows =
            BufferMut::from_fn(problem.height() * problem.size, |at| problem.expected(true, place(at)));
        let columns = problem.columns().expect("they are among the rows");
        let landing = problem.landing().expect("there are as many columns as rows");
        Self { problem, rows, exchange, columns, landing, planner: FftPlanner::new() }
    }

    /// Transforms the matrix, or transforms it back.
    #[entry]
    pub(crate) fn transform(&mut self, is_inverse: bool, done: Callback<()>) {
        let mut rows = std::mem::replace(&mut self.rows, Vec::new().into());
        self.transform_rows(is_inverse, &mut rows);
        let landing = BufferMut::zeroed(rows.len());
        let (me, landed) = (self.this_index(), self.this_chare().finish_callback());
        let landed = landed.carrying((is_inverse, done));
        self.exchange.all_to_all(me, (rows, &self.columns), (landing, &self.landing), landed);
    }

    /// Transforms what has landed from all slabs.
    #[entry]
    fn finish(&mut self, mut rows: BufferMut<Number>, running: (bool, Callback<()>)) {
        let (is_inverse, done) = running;
        self.transform_rows(is_inverse, &mut rows);
        if !is_inverse {
            // A transform and its inverse multiply by the number of elements.
            let scale = 1.0 / (self.problem.size * self.problem.size) as f64;
            rows.iter_mut().for_each(|number| *number *= scale);
        }
        self.rows = rows;
        self.contribute(barrier(), done);
    }

    /// Compares with what is expected after a transform, or after its inverse; `off` gets the largest distance.
    #[entry]
    pub(crate) fn compare(&mut self, is_inverse: bool, off: Callback<f64>) {
        let size = self.problem.size;
        let first = self.this_index() as usize * self.problem.height();
        let distance = |(at, number): (usize, &Number)| {
            let [row, column] = [first + at / size, at % size];
            // Both transpose, so that they cancel.
            let place = if is_inverse { [row, column] } else { [column, row] };
            (*number - self.problem.expected(is_inverse, place)).norm()
        };
        let largest = self.rows.iter().enumerate().map(distance).fold(0.0, f64::max);
        self.contribute(max(largest), off);
    }

    /// Each row transformed by itself.
    fn transform_rows(&mut self, is_inverse: bool, rows: &mut [Number]) {
        let size = self.problem.size;
        let plan = if is_inverse {
            self.planner.plan_fft_inverse(size)
        } else {
            self.planner.plan_fft_forward(size)
        };
        plan.process(rows);
    }
}
