//! A block of the box as a chare: sends its faces to six neighbours, sweeps when it has theirs, and waits for all others.

use crate::grid::{Extent, Grid, Side};
use chare::prelude::*;
use serde::{Deserialize, Serialize};

/// What is computed.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Points of the whole box.
    pub(crate) points: Extent,
    /// Points of a block.
    pub(crate) block: Extent,
    pub(crate) iterations: u32,
}

impl Problem {
    /// Blocks along each axis.
    pub(crate) fn blocks(&self) -> Extent {
        [0, 1, 2].map(|axis| self.points[axis] / self.block[axis])
    }
}

pub(crate) struct Block {
    problem: Problem,
    /// Which block it is, along each axis.
    place: Extent,
    grid: Grid,
    iteration: u32,
    faces_arrived: u32,
    faces_back: u32,
    done: Callback<()>,
}

#[chare(array, index = (usize, usize, usize))]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem, done: Callback<()>) -> Self {
        let place = chare::this_index::<(usize, usize, usize)>().into();
        let grid = Grid::new(problem.block, problem.block);
        Self { problem, place, grid, iteration: 0, faces_arrived: 0, faces_back: 0, done }
    }

    /// Begins an iteration. A barrier lies between two, so faces are always those of this one.
    #[entry]
    pub(crate) fn step(&mut self) {
        let back = self.this_chare().face_back_callback();
        for side in Side::ALL {
            let mut face = BufferMut::zeroed(self.grid.face_len(side));
            face.iter_mut().zip(self.grid.face(side)).for_each(|(to, value)| *to = value);
            self.neighbour(side).receive(side.opposite(), SendBuffer::from(face).on_sent(back));
        }
    }

    /// A neighbour's face, at this side.
    #[entry]
    fn receive(&mut self, side: Side, #[nocopy] face: Received<f64>) {
        self.grid.set_frame(side, &face);
        self.faces_arrived += 1;
        drop(face);
        self.go_on();
    }

    /// A neighbour has let go of a face of this block.
    #[entry]
    fn face_back(&mut self, _face: Sent<f64>) {
        self.faces_back += 1;
        self.go_on();
    }

    fn go_on(&mut self) {
        if self.faces_arrived < 6 || self.faces_back < 6 {
            return;
        }
        (self.faces_arrived, self.faces_back) = (0, 0);
        self.grid.sweep();
        self.iteration += 1;
        if self.iteration < self.problem.iterations {
            self.contribute(barrier(), self.this_collection().step_callback());
        } else {
            self.contribute(barrier(), self.done);
        }
    }

    /// Compares with what one process alone computes.
    #[entry]
    pub(crate) fn compare(&mut self, #[nocopy] whole: Received<f64>, compared: Callback<()>) {
        let Problem { points, block, .. } = self.problem;
        let [first_x, first_y, first_z] = [0, 1, 2].map(|axis| self.place[axis] * block[axis]);
        for z in 0..block[2] {
            for y in 0..block[1] {
                let start = ((first_z + z) * points[1] + first_y + y) * points[0] + first_x;
                let row = &whole[start..start + block[0]];
                assert!(
                    row.iter().enumerate().all(|(x, expected)| self.grid.value([x, y, z]) == *expected),
                    "block {:?} differs in row {y} of layer {z}",
                    self.place
                );
            }
        }
        self.contribute(barrier(), compared);
    }

    /// The block beyond a side; the box continues at its opposite side.
    fn neighbour(&self, side: Side) -> BlockElementProxy {
        let (blocks, mut place) = (self.problem.blocks(), self.place);
        let (axis, is_upper) = side.axis();
        let step = if is_upper { 1 } else { blocks[axis] - 1 };
        place[axis] = (place[axis] + step) % blocks[axis];
        self.this_collection().at(place.into())
    }
}
