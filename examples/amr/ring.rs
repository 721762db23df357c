//! A ring that is cut into blocks, finer where a pulse is: the tree of blocks in each generation, and the masses in their cells, which flow to the
//! right. It knows no chares.
//!
//! The pulse goes one block of the finest level in a generation, so everybody knows where blocks are small. Masses are whole numbers: none is lost
//! or made by rounding.

use serde::{Deserialize, Serialize};

/// A block: its level, of which 0 is the whole ring in one block, and its place among the blocks of that level.
pub(crate) type Place = (u32, u32);

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ring {
    /// The level of the largest blocks.
    pub(crate) coarsest: u32,
    /// The level of the smallest blocks.
    pub(crate) finest: u32,
    /// Cells of each block, large or small; an even number.
    pub(crate) cells: u32,
    /// How far around the pulse blocks are of the finest level, in such blocks.
    pub(crate) reach: u32,
}

/// What becomes of a block in the next generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fate {
    Stays,
    /// Its halves take its place.
    Splits,
    /// It and its other half make place for the whole.
    Joins,
}

/// Both halves of a block.
pub(crate) fn halves((level, place): Place) -> [Place; 2] {
    [(level + 1, 2 * place), (level + 1, 2 * place + 1)]
}

/// The block of which this one is a half, and whether it is the right one.
pub(crate) fn whole((level, place): Place) -> (Place, bool) {
    ((level - 1, place / 2), place % 2 == 1)
}

impl Ring {
    /// Steps of a generation. Masses flow half a cell of the finest level in each.
    pub(crate) fn steps(self) -> u32 {
        2 * self.cells
    }

    /// Blocks of the finest level around the ring.
    fn len(self) -> u32 {
        1 << self.finest
    }

    /// Where a block begins and how long it is, in blocks of the finest level.
    fn extent(self, (level, place): Place) -> (u32, u32) {
        let shift = self.finest - level;
        (place << shift, 1 << shift)
    }

    /// How far a block is from the pulse in a generation, on the shorter way.
    fn distance(self, block: Place, generation: u32) -> u32 {
        let (first, length) = self.extent(block);
        let into = (generation % self.len() + self.len() - first) % self.len();
        if into < length { 0 } else { (into + 1 - length).min(self.len() - into) }
    }

    /// Whether a block is cut into halves in a generation. The reach doubles from level to level, so no block splits or joins twice at once.
    fn is_cut(self, block: Place, generation: u32) -> bool {
        let level = block.0;
        let is_near = || self.distance(block, generation) <= self.reach << (self.finest - 1 - level);
        level < self.coarsest || (level < self.finest && is_near())
    }

    /// The block of a generation that is at a place, which is counted in blocks of the finest level.
    fn block_at(self, place: u32, generation: u32) -> Place {
        let levels = (0..=self.finest).map(|level| (level, place >> (self.finest - level)));
        let mut whole = levels.filter(|block| !self.is_cut(*block, generation));
        whole.next().expect("no block of the finest level is cut")
    }

    /// All blocks of a generation, from left to right.
    pub(crate) fn blocks(self, generation: u32) -> Vec<Place> {
        let after = |block: &Place| {
            let (first, length) = self.extent(*block);
            (first + length < self.len()).then(|| self.block_at(first + length, generation))
        };
        std::iter::successors(Some(self.block_at(0, generation)), after).collect()
    }

    /// The block to the right of one.
    pub(crate) fn right_of(self, block: Place, generation: u32) -> Place {
        let (first, length) = self.extent(block);
        self.block_at((first + length) % self.len(), generation)
    }

    /// What becomes of a block in a generation.
    pub(crate) fn fate(self, block: Place, generation: u32) -> Fate {
        let (first, _) = self.extent(block);
        match self.block_at(first, generation).0 {
            level if level == block.0 => Fate::Stays,
            level if level > block.0 => Fate::Splits,
            _ => Fate::Joins,
        }
    }

    /// The masses in a block's cells at first: there is some everywhere, and much where the pulse is.
    pub(crate) fn first_masses(self, block: Place) -> Vec<u64> {
        let (first, length) = self.extent(block);
        let finest = |cell: u32| if cell < self.cells { 1_u64 << 30 } else { 1 << 20 };
        let cell =
            |cell: u32| (0..length).map(|part| finest((first * self.cells) + cell * length + part)).sum();
        (0..self.cells).map(cell).collect()
    }

    /// How many times a cell's mass has to be halved to be what flows out of it in a step.
    fn shift(self, (level, _): Place) -> u32 {
        1 + self.finest - level
    }

    /// What flows out of a block in a step, to the right.
    pub(crate) fn outflow(self, block: Place, masses: &[u64]) -> u64 {
        masses.last().map_or(0, |mass| mass >> self.shift(block))
    }

    /// Lets masses flow for a step.
    pub(crate) fn flow(self, block: Place, masses: &mut [u64], inflow: u64) {
        masses.iter_mut().fold(inflow, |inflow, mass| {
            let outflow = *mass >> self.shift(block);
            *mass = *mass - outflow + inflow;
            outflow
        });
    }
}

/// The masses of both halves of a block.
pub(crate) fn split(masses: &[u64]) -> [Vec<u64>; 2] {
    let cells: Vec<u64> = masses.iter().flat_map(|mass| [mass - mass / 2, mass / 2]).collect();
    let (left, right) = cells.split_at(masses.len());
    [left.to_vec(), right.to_vec()]
}

/// The masses of a block whose halves have these.
pub(crate) fn join(left: &[u64], right: &[u64]) -> Vec<u64> {
    [left, right].concat().chunks(2).map(|pair| pair.iter().sum()).collect()
}
