//! A block of the box as a chare that lends its faces to six neighbours, as Charm++'s does: it sweeps when it has theirs and
//! its own are back, and waits for all others.

use crate::problem::{Place, Problem};
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};

pub(crate) struct Block {
    problem: Problem,
    grid: Grid<3>,
    iteration: u32,
    faces_arrived: u32,
    faces_back: u32,
    done: Callback<()>,
}

#[chare(array, index = Place)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem, done: Callback<()>) -> Self {
        Self { problem, grid: problem.grid(), iteration: 0, faces_arrived: 0, faces_back: 0, done }
    }

    /// Begins an iteration. A barrier lies between two, so faces are always those of this one.
    #[entry]
    pub(crate) fn step(&mut self) {
        let back = self.this_chare().face_back_callback();
        for side in Side::all(3) {
            let neighbour = self.this_collection().at(self.problem.neighbour(self.this_index(), side));
            let face = self.grid.edge(side).registration(self.problem.registration.into());
            neighbour.receive(side.opposite(), face.on_sent(back));
        }
    }

    /// A neighbour's face, at this side.
    #[entry]
    fn receive(&mut self, side: Side, #[nocopy] face: ReceivedView<f64>) {
        self.grid.set_frame(side, face.iter());
        self.faces_arrived += 1;
        drop(face);
        self.go_on();
    }

    /// A neighbour has let go of a face of this block.
    #[entry]
    fn face_back(&mut self, _points: u64) {
        self.faces_back += 1;
        self.go_on();
    }

    fn go_on(&mut self) {
        if self.faces_arrived < 6 || self.faces_back < 6 {
            return;
        }
        (self.faces_arrived, self.faces_back) = (0, 0);
        assert!(self.grid.make_ready(6), "all faces are here and back");
        self.problem.sweep(&mut self.grid);
        self.iteration += 1;
        if self.iteration < self.problem.iterations {
            self.contribute(barrier(), self.this_collection().step_callback());
        } else {
            self.problem.check(self.this_index(), &self.grid);
            self.contribute(barrier(), self.done);
        }
    }
}
