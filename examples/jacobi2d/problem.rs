//! Problem: the rectangle, its division into blocks, and the wanted accuracy. It knows no chares.

use chare::Callback;
use chare_examples::stencil::Side;
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
    pub(crate) iterations: Callback<u64>,
    pub(crate) error: Callback<f64>,
}

impl Problem {
    /// The blocks beside a block.
    pub(crate) fn neighbours(&self, (column, row): (u64, u64)) -> impl Iterator<Item = (Side, (u64, u64))> {
        let blocks = [self.blocks; 2];
        Side::all(2).filter_map(move |side| Some((side, side.beside([column, row], blocks)?.into())))
    }
}
