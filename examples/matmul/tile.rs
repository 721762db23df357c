//! A tile as a chare: its blocks of both factors, which it shows along its row and its column, and its block of the product.

use chare::Gather;
use chare::prelude::*;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The matrices and their division.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Rows and columns.
    pub(crate) size: usize,
    /// Rows and columns of tiles.
    pub(crate) tiles: usize,
}

impl Problem {
    /// Rows of the tiles in a row of tiles, or columns of those in a column.
    fn share(&self, line: u32) -> Range<usize> {
        let one = self.size.div_ceil(self.tiles);
        let end = |line: usize| (line * one).min(self.size);
        end(line as usize)..end(line as usize + 1)
    }
}

/// The rows and the columns of tiles.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Lines {
    pub(crate) rows: Vec<TileSectionProxy>,
    pub(crate) columns: Vec<TileSectionProxy>,
}

/// Blocks whose product is to be added: one from this tile's row, one from its column.
#[derive(Default)]
struct Factors {
    a: Option<Received<f64>>,
    b: Option<Received<f64>>,
}

pub(crate) struct Tile {
    problem: Problem,
    factors: Vec<Factors>,
    /// How many products are still to be added.
    left: usize,
    block: BufferMut<f64>,
    product: Option<Gather<f64>>,
}

#[chare(array, index = (u32, u32))]
impl Tile {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let (row, column) = chare::this_index::<(u32, u32)>();
        let block = BufferMut::zeroed(problem.share(row).len() * problem.share(column).len());
        let factors = (0..problem.tiles).map(|_| Factors::default()).collect();
        Self { problem, factors, left: problem.tiles, block, product: None }
    }

    /// The tile's blocks of both factors, and where its block of the product is wanted.
    #[entry]
    pub(crate) fn take(
        &mut self,
        #[nocopy(post)] a: Posted<f64>,
        #[nocopy(post)] b: Posted<f64>,
        lines: Lines,
        product: Gather<f64>,
    ) {
        let (row, column) = self.this_index();
        lines.rows[row as usize].along_row(column, a.into_buffer());
        lines.columns[column as usize].along_column(row, b.into_buffer());
        self.product = Some(product);
        self.finish();
    }

    /// The blocks land in the pool, where the other tiles of this host see them.
    #[post(take)]
    fn post_take(&mut self, a: Post<f64>, b: Post<f64>, _lines: &Lines, _product: &Gather<f64>) {
        for block in [a, b] {
            let room = BufferMut::zeroed(block.len());
            block.post(room).expect("it is as long");
        }
    }

    #[entry]
    fn along_row(&mut self, column: u32, #[nocopy] a: Received<f64>) {
        self.factors[column as usize].a = Some(a);
        self.add(column);
    }

    #[entry]
    fn along_column(&mut self, row: u32, #[nocopy] b: Received<f64>) {
        self.factors[row as usize].b = Some(b);
        self.add(row);
    }

    /// Adds the product of two blocks, if both are here.
    fn add(&mut self, step: u32) {
        let Factors { a: Some(a), b: Some(b) } = &self.factors[step as usize] else { return };
        let (inner, width) = (self.problem.share(step).len(), self.problem.share(self.this_index().1).len());
        if inner > 0 && width > 0 {
            for (a, sums) in a.chunks(inner).zip(self.block.chunks_mut(width)) {
                for (factor, b) in a.iter().zip(b.chunks(width)) {
                    sums.iter_mut().zip(b).for_each(|(sum, b)| *sum += factor * b);
                }
            }
        }
        self.factors[step as usize] = Factors::default();
        self.left -= 1;
        self.finish();
    }

    /// Puts the block where it is wanted, when it is the sum of all products.
    fn finish(&mut self) {
        if let Some(product) = self.product.take_if(|_| self.left == 0) {
            product.put(self.this_index(), std::mem::replace(&mut self.block, Vec::new().into()));
        }
    }
}
