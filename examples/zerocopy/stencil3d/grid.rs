//! A box of points with a frame of one point around it, and Jacobi's sweep over it.

use serde::{Deserialize, Serialize};

/// The temperature that heated points keep.
const HEATED: f64 = 255.0;

/// A side of a box.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum Side {
    Left,
    Right,
    Bottom,
    Top,
    Front,
    Back,
}

impl Side {
    pub(crate) const ALL: [Self; 6] =
        [Self::Left, Self::Right, Self::Bottom, Self::Top, Self::Front, Self::Back];

    pub(crate) fn opposite(self) -> Self {
        Self::ALL[self as usize ^ 1]
    }

    /// The axis that the side closes, and whether it is the upper end.
    pub(crate) fn axis(self) -> (usize, bool) {
        (self as usize / 2, self as usize % 2 == 1)
    }
}

/// Points of a box along x, y and z.
pub(crate) type Extent = [usize; 3];

/// Temperatures of a box and its frame.
#[derive(Clone, Debug)]
pub(crate) struct Grid {
    extent: Extent,
    /// Points whose coordinate is a multiple of this along any axis stay heated.
    heated_every: Extent,
    values: Vec<f64>,
    next: Vec<f64>,
}

impl Grid {
    /// A cold box with heated points.
    pub(crate) fn new(extent: Extent, heated_every: Extent) -> Self {
        let values = vec![0.0; extent.iter().map(|points| points + 2).product()];
        let mut grid = Self { extent, heated_every, next: values.clone(), values };
        grid.heat();
        grid
    }

    /// The position of a point; coordinates count from 0 at the frame.
    fn at(&self, [x, y, z]: Extent) -> usize {
        (z * (self.extent[1] + 2) + y) * (self.extent[0] + 2) + x
    }

    /// All points within the frame, or those of a layer across `fixed`'s axis.
    fn points(&self, fixed: Option<(usize, usize)>) -> impl Iterator<Item = Extent> + use<> {
        let range = |axis: usize| match fixed {
            Some((fixed_axis, layer)) if fixed_axis == axis => layer..=layer,
            _ => 1..=self.extent[axis],
        };
        let (xs, ys, zs) = (range(0), range(1), range(2));
        zs.flat_map(move |z| {
            let xs = xs.clone();
            ys.clone().flat_map(move |y| xs.clone().map(move |x| [x, y, z]))
        })
    }

    /// The temperatures of one point within the frame, by its coordinates in the box.
    pub(crate) fn value(&self, point: Extent) -> f64 {
        self.values[self.at(point.map(|coordinate| coordinate + 1))]
    }

    /// The outermost layer of points at a side.
    pub(crate) fn face(&self, side: Side) -> impl Iterator<Item = f64> {
        let (axis, is_upper) = side.axis();
        let layer = if is_upper { self.extent[axis] } else { 1 };
        self.points(Some((axis, layer))).map(|point| self.values[self.at(point)])
    }

    /// Points of a face.
    pub(crate) fn face_len(&self, side: Side) -> usize {
        self.extent.iter().product::<usize>() / self.extent[side.axis().0]
    }

    /// Sets the frame at a side to a neighbour's face.
    pub(crate) fn set_frame(&mut self, side: Side, face: &[f64]) {
        let (axis, is_upper) = side.axis();
        let layer = if is_upper { self.extent[axis] + 1 } else { 0 };
        for (point, value) in self.points(Some((axis, layer))).zip(face) {
            let position = self.at(point);
            self.values[position] = *value;
        }
    }

    /// Every point becomes the mean of itself and its six neighbours; heated points stay.
    pub(crate) fn sweep(&mut self) {
        let (row, layer) = (self.extent[0] + 2, (self.extent[0] + 2) * (self.extent[1] + 2));
        for point in self.points(None) {
            let at = self.at(point);
            let neighbours = [at, at - 1, at + 1, at - row, at + row, at - layer, at + layer];
            self.next[at] = neighbours.map(|position| self.values[position]).iter().sum::<f64>() / 7.0;
        }
        std::mem::swap(&mut self.values, &mut self.next);
        self.heat();
    }

    fn heat(&mut self) {
        for point in self.points(None) {
            let is_heated = (0..3).any(|axis| (point[axis] - 1) % self.heated_every[axis] == 0);
            if is_heated {
                let position = self.at(point);
                self.values[position] = HEATED;
            }
        }
    }

    /// The result of `iterations` sweeps over a whole box that continues at its opposite side.
    pub(crate) fn solve(extent: Extent, heated_every: Extent, iterations: u32) -> Self {
        let mut grid = Self::new(extent, heated_every);
        for _ in 0..iterations {
            for side in Side::ALL {
                let face: Vec<f64> = grid.face(side).collect();
                grid.set_frame(side.opposite(), &face);
            }
            grid.sweep();
        }
        grid
    }

    /// All temperatures within the frame, x running fastest.
    pub(crate) fn inner(&self) -> impl Iterator<Item = f64> {
        self.points(None).map(|point| self.values[self.at(point)])
    }
}
