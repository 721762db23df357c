//! The field: its tiles, what of a tile its neighbours need, and what it is after all sweeps.

use crate::sweep::{Parts, Real};
use chare::layout::{Dims, Layout};
use serde::{Deserialize, Serialize};

/// What is computed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) tiles: [u32; 2],
    pub(crate) tile: Size,
    pub(crate) steps: u32,
    /// Sweeps between two syncs.
    pub(crate) every: u32,
    pub(crate) is_verified: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Size {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// The way to a neighbour: down and right are 1, up and left are -1.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Way {
    pub(crate) down: i32,
    pub(crate) right: i32,
}

impl Way {
    /// The way to nowhere.
    pub(crate) const STAY: Self = Self { down: 0, right: 0 };

    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let ways = (-1..=1).flat_map(|down| (-1..=1).map(move |right| Self { down, right }));
        ways.filter(|way| *way != Self::STAY)
    }

    /// Its place in three rows of three, of which the one in the middle leads nowhere.
    pub(crate) fn place(self) -> usize {
        ((self.down + 1) * 3 + self.right + 1) as usize
    }

    pub(crate) fn back(self) -> Self {
        Self { down: -self.down, right: -self.right }
    }

    /// The neighbour of a tile in this way, if the field goes on there.
    pub(crate) fn from(self, (row, column): (u32, u32), tiles: [u32; 2]) -> Option<(u32, u32)> {
        let row = row.checked_add_signed(self.down).filter(|row| *row < tiles[0])?;
        let column = column.checked_add_signed(self.right).filter(|column| *column < tiles[1])?;
        Some((row, column))
    }

    /// What of a tile the neighbour in this way needs: a row, a column, or a corner.
    pub(crate) fn edge<R: Real>(self, tile: Size) -> Layout<R> {
        let grid = Dims::new([tile.rows, tile.columns]);
        let (bottom, east) = (tile.rows - 1, tile.columns - 1);
        let (row, column) = (if self.down > 0 { bottom } else { 0 }, if self.right > 0 { east } else { 0 });
        match (self.down, self.right) {
            (_, 0) => grid.select((row, ..)),
            (0, _) => grid.select((.., column)),
            _ => grid.select((row, column)),
        }
    }
}

impl Problem {
    /// The points of a tile at first.
    pub(crate) fn first<R: Real>(&self, (row, column): (u32, u32)) -> Vec<R> {
        let Size { rows, columns } = self.tile;
        let (top, left) = (row as usize * rows, column as usize * columns);
        let points =
            (top..top + rows).flat_map(|row| (left..left + columns).map(move |column| (row, column)));
        points.map(|(row, column)| R::from(((row * 31 + column * 17) % 101) as u8)).collect()
    }

    /// How many points of a tile are not what one loop over the whole field computes.
    pub(crate) fn count_wrong<R: Real>(&self, (row, column): (u32, u32), points: &[R]) -> u64 {
        let Size { rows, columns } = self.tile;
        let whole = Size { rows: rows * self.tiles[0] as usize, columns: columns * self.tiles[1] as usize };
        let alone = Self { tiles: [1, 1], tile: whole, ..*self };
        let mut field: Vec<R> = alone.first((0, 0));
        for _ in 0..self.steps {
            field = Parts::alone(whole, &field).swept();
        }
        let (top, left) = (row as usize * rows, column as usize * columns);
        let lines = field.chunks(whole.columns).skip(top).take(rows);
        let expected = lines.flat_map(|line| &line[left..left + columns]);
        points.iter().zip(expected).filter(|(point, expected)| point != expected).count() as u64
    }
}
