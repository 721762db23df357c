//! The field: its tiles, what of a tile its neighbours need, and the sweep.

use chare::layout::{Dims, Layout};
use serde::{Deserialize, Serialize};

/// What is computed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) tiles: [u32; 2],
    pub(crate) tile: Size,
    pub(crate) steps: u32,
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
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let ways = (-1..=1).flat_map(|down| (-1..=1).map(move |right| Self { down, right }));
        ways.filter(|way| (way.down, way.right) != (0, 0))
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
    pub(crate) fn edge(self, tile: Size) -> Layout<f64> {
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

/// A tile with a frame of what its neighbours sent; zero where the field ends.
pub(crate) struct Framed {
    size: Size,
    points: Vec<f64>,
}

/// The weights of a point, of those beside it, and of those across its corners: SHOC's.
const WEIGHTS: [f64; 3] = [0.25, 0.15, 0.05];

impl Framed {
    pub(crate) fn new(size: Size, inside: &[f64]) -> Self {
        let mut points = vec![0.0; (size.rows + 2) * (size.columns + 2)];
        for (row, line) in inside.chunks(size.columns).enumerate() {
            points[(row + 1) * (size.columns + 2) + 1..][..size.columns].copy_from_slice(line);
        }
        Self { size, points }
    }

    /// Takes what the neighbour in this way sent.
    pub(crate) fn set_frame(&mut self, way: Way, sent: &[f64]) {
        let (width, Size { rows, columns }) = (self.size.columns + 2, self.size);
        let place = |way: i32, len: usize| match way {
            -1 => 0,
            1 => len + 1,
            _ => 1,
        };
        let first = place(way.down, rows) * width + place(way.right, columns);
        let step = if way.right == 0 { 1 } else { width };
        sent.iter().enumerate().for_each(|(at, point)| self.points[first + at * step] = *point);
    }

    /// The points inside after one sweep.
    pub(crate) fn swept(&self) -> Vec<f64> {
        let width = self.size.columns + 2;
        let at = |row: usize, column: usize| self.points[row * width + column];
        let sweep = |row: usize, column: usize| {
            let beside =
                at(row - 1, column) + at(row + 1, column) + at(row, column - 1) + at(row, column + 1);
            let across = at(row - 1, column - 1)
                + at(row - 1, column + 1)
                + at(row + 1, column - 1)
                + at(row + 1, column + 1);
            WEIGHTS[0] * at(row, column) + WEIGHTS[1] * beside + WEIGHTS[2] * across
        };
        (1..=self.size.rows)
            .flat_map(|row| (1..=self.size.columns).map(move |column| (row, column)))
            .map(|(row, column)| sweep(row, column))
            .collect()
    }
}

impl Problem {
    /// The points of a tile at first.
    pub(crate) fn first(&self, (row, column): (u32, u32)) -> Vec<f64> {
        let Size { rows, columns } = self.tile;
        let (top, left) = (row as usize * rows, column as usize * columns);
        let points =
            (top..top + rows).flat_map(|row| (left..left + columns).map(move |column| (row, column)));
        points.map(|(row, column)| ((row * 31 + column * 17) % 101) as f64).collect()
    }

    /// How many points of a tile are not what one loop over the whole field computes.
    pub(crate) fn count_wrong(&self, (row, column): (u32, u32), points: &[f64]) -> u64 {
        let Size { rows, columns } = self.tile;
        let whole = Size { rows: rows * self.tiles[0] as usize, columns: columns * self.tiles[1] as usize };
        let alone = Self { tiles: [1, 1], tile: whole, ..*self };
        let mut field = alone.first((0, 0));
        for _ in 0..self.steps {
            field = Framed::new(whole, &field).swept();
        }
        let (top, left) = (row as usize * rows, column as usize * columns);
        let lines = field.chunks(whole.columns).skip(top).take(rows);
        let expected = lines.flat_map(|line| &line[left..left + columns]);
        points.iter().zip(expected).filter(|(point, expected)| point != expected).count() as u64
    }
}
