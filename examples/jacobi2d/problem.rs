//! Problem: the rectangle, its division into blocks, and the wanted accuracy. It knows no chares.

use crate::grid::Grid;
use chare::Callback;
use serde::{Deserialize, Serialize};

/// A reduction costs about as much as some exchanges of edges; asking seldom hides it.
pub(crate) const SWEEPS_PER_VERDICT: u64 = 10;

/// Where a neighbour is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Side {
    Left,
    Right,
    Below,
    Above,
}

impl Side {
    pub(crate) const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Below, Self::Above];

    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Below => Self::Above,
            Self::Above => Self::Below,
        }
    }
}

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
    /// The points of a block.
    pub(crate) fn grid(&self, (column, row): (u64, u64)) -> Grid {
        let part = |at: u64, points: u64| at * points / self.blocks..(at + 1) * points / self.blocks;
        Grid::new((self.columns, self.rows), part(column, self.columns), part(row, self.rows))
    }

    /// The blocks beside a block.
    pub(crate) fn neighbours(&self, (column, row): (u64, u64)) -> impl Iterator<Item = (Side, (u64, u64))> {
        let blocks = self.blocks;
        Side::ALL.into_iter().filter_map(move |side| {
            let index = match side {
                Side::Left if column > 0 => (column - 1, row),
                Side::Right if column + 1 < blocks => (column + 1, row),
                Side::Below if row > 0 => (column, row - 1),
                Side::Above if row + 1 < blocks => (column, row + 1),
                _ => return None,
            };
            Some((side, index))
        })
    }
}
