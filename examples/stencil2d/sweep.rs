//! The sweep: each point becomes the weighted sum of nine. Points outside a tile are in the edges that its neighbours sent.

use crate::field::{Size, Way};
use chare::{Element, Message};
use std::ops::{Add, Mul};

/// A number of single or double precision, which is what a point is.
pub(crate) trait Real:
    Element + Message + PartialEq + From<u8> + Add<Output = Self> + Mul<Output = Self>
{
    /// The weights of a point, of those beside it, and of those across its corners: SHOC's.
    const WEIGHTS: [Self; 3];
}

impl Real for f32 {
    const WEIGHTS: [Self; 3] = [0.25, 0.15, 0.05];
}

impl Real for f64 {
    const WEIGHTS: [Self; 3] = [0.25, 0.15, 0.05];
}

/// The points of a tile, and the edges of its neighbours, each at the [place](Way::place) of the way that leads there; none, and zeros,
/// where the field ends.
pub(crate) struct Parts<'a, R> {
    size: Size,
    parts: [Option<&'a [R]>; 9],
}

impl<'a, R: Real> Parts<'a, R> {
    pub(crate) fn new(size: Size, parts: [Option<&'a [R]>; 9]) -> Self {
        Self { size, parts }
    }

    /// A tile without neighbours.
    pub(crate) fn alone(size: Size, points: &'a [R]) -> Self {
        let mut parts = [None; 9];
        parts[Way::STAY.place()] = Some(points);
        Self::new(size, parts)
    }

    /// A point of the tile, or beside it.
    fn at(&self, row: isize, column: isize) -> R {
        let side = |at: isize, len: usize| i32::from(at >= len as isize) - i32::from(at < 0);
        let way = Way { down: side(row, self.size.rows), right: side(column, self.size.columns) };
        let Some(part) = self.parts[way.place()] else { return R::from(0) };
        match (way.down, way.right) {
            (0, 0) => part[row as usize * self.size.columns + column as usize],
            (_, 0) => part[column as usize],
            (0, _) => part[row as usize],
            _ => part[0],
        }
    }

    fn swept_at(&self, row: isize, column: isize) -> R {
        let (up, down, left, right) = (row - 1, row + 1, column - 1, column + 1);
        let beside = self.at(up, column) + self.at(down, column) + self.at(row, left) + self.at(row, right);
        let across = self.at(up, left) + self.at(up, right) + self.at(down, left) + self.at(down, right);
        R::WEIGHTS[0] * self.at(row, column) + R::WEIGHTS[1] * beside + R::WEIGHTS[2] * across
    }

    /// Writes the points of the tile after one sweep.
    pub(crate) fn sweep_to(&self, swept: &mut [R]) {
        for (row, line) in (0..).zip(swept.chunks_mut(self.size.columns)) {
            for (column, point) in (0..).zip(line) {
                *point = self.swept_at(row, column);
            }
        }
    }

    /// The points of the tile after one sweep.
    pub(crate) fn swept(&self) -> Vec<R> {
        let mut swept = vec![R::from(0); self.size.rows * self.size.columns];
        self.sweep_to(&mut swept);
        swept
    }
}
