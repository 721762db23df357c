//! A slab as a chare: as many rows of the matrix as every slab has, which it transforms and exchanges for its share of the columns.
//!
//! A slab sends its columns when its rows are transformed, perhaps before another one has begun: what lands has an array of its own, split
//! into one part for each slab, which becomes the rows when all have landed.

use chare::Layout;
use chare::layout::{Dims, LayoutError};
use chare::prelude::*;
use chare::{PartMut, Rest};
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

    /// Among a slab's rows the columns that another slab is to have, column by column.
    fn columns_of(&self, other: usize) -> Result<Layout<Number>, LayoutError> {
        let columns = Layout::strided(&[self.height(), self.height()], &[1, self.size as isize])?;
        columns.shifted((other * self.height()) as i64)
    }

    /// Among a slab's rows, where the columns of another slab land: each as a piece of a row.
    fn landing_of(&self, other: usize) -> Layout<Number> {
        let start = other * self.height();
        Dims::new([self.height(), self.size]).select((.., start..start + self.height()))
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

/// What lands from the other slabs.
struct Landing {
    rest: Rest<Number>,
    /// By slab; out while filled.
    parts: Vec<Option<PartMut<Number>>>,
    filled: usize,
}

pub(crate) struct Slab {
    problem: Problem,
    rows: Buffer<Number>,
    landing: Landing,
    planner: FftPlanner<f64>,
    /// The direction of the transform that runs, and who waits for it.
    running: Option<(bool, Callback<f64>)>,
}

#[chare(array)]
impl Slab {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let first = chare::this_index::<u64>() as usize * problem.height();
        let place = |at: usize| [first + at / problem.size, at % problem.size];
        let rows =
            BufferMut::from_fn(problem.height() * problem.size, |at| problem.expected(true, place(at)));
        let landing = Self::landing(&problem);
        Self { problem, rows: rows.freeze(), landing, planner: FftPlanner::new(), running: None }
    }

    /// Transforms the matrix, or transforms it back; `done` gets the largest distance from what is expected.
    #[entry]
    pub(crate) fn transform(&mut self, is_inverse: bool, done: Callback<f64>) {
        self.running = Some((is_inverse, done));
        let rows = std::mem::replace(&mut self.rows, Vec::new().into());
        self.rows = self.transform_rows(is_inverse, rows).freeze();
        let (slabs, me) = (self.this_collection(), self.this_index());
        for other in 0..self.problem.slabs {
            let columns = self.problem.columns_of(other).expect("they are among the rows");
            slabs.at(other as u64).land(me, SendBuffer::from(self.rows.clone()).only(&columns));
        }
        self.finish();
    }

    /// The columns of a slab have landed.
    #[entry]
    fn land(&mut self, from: u64, #[nocopy(post)] columns: Posted<Number>) {
        self.landing.parts[from as usize] = Some(columns.into_part());
        self.landing.filled += 1;
        self.finish();
    }

    #[post(land)]
    fn post_land(&mut self, from: &u64, columns: Post<Number>) {
        let part = self.landing.parts[*from as usize].take();
        columns.post_part(part.expect("each slab sends once")).expect("all send as many");
    }

    /// Transforms what has landed, if that is all of it, and compares.
    fn finish(&mut self) {
        if self.landing.filled < self.problem.slabs {
            return;
        }
        let Some((is_inverse, done)) = self.running.take() else { return };
        let next = Self::landing(&self.problem);
        let Landing { rest, parts, .. } = std::mem::replace(&mut self.landing, next);
        let landed = rest.join(parts.into_iter().flatten()).expect("all parts have landed");
        let mut rows = self.transform_rows(is_inverse, landed.freeze());
        // A transform and its inverse multiply by the number of elements; and both transpose, so that they cancel.
        let scale = 1.0 / (self.problem.size * self.problem.size) as f64;
        let mut off = 0.0_f64;
        let first = self.this_index() as usize * self.problem.height();
        for (at, number) in rows.iter_mut().enumerate() {
            *number *= if is_inverse { 1.0 } else { scale };
            let place = [first + at / self.problem.size, at % self.problem.size];
            let place = if is_inverse { place } else { [place[1], place[0]] };
            off = off.max((*number - self.problem.expected(is_inverse, place)).norm());
        }
        self.rows = rows.freeze();
        self.contribute(max(off), done);
    }

    fn landing(problem: &Problem) -> Landing {
        let layouts: Vec<_> = (0..problem.slabs).map(|slab| problem.landing_of(slab)).collect();
        let rows = BufferMut::zeroed(problem.height() * problem.size);
        let split = rows.split_all(&layouts.iter().collect::<Vec<_>>());
        let (rest, parts) = split.expect("the columns of two slabs share no place");
        Landing { rest, parts: parts.into_iter().map(Some).collect(), filled: 0 }
    }

    /// Each row transformed by itself. Copies what somebody else still reads.
    fn transform_rows(&mut self, is_inverse: bool, rows: Buffer<Number>) -> BufferMut<Number> {
        let size = self.problem.size;
        let plan = if is_inverse {
            self.planner.plan_fft_inverse(size)
        } else {
            self.planner.plan_fft_forward(size)
        };
        let mut rows = rows.try_into_mut().unwrap_or_else(|shared| shared.to_vec().into());
        plan.process(&mut rows);
        rows
    }
}
