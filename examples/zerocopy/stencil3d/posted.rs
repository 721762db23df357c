//! A block of the box as a chare in whose frame its neighbours' faces land.
//!
//! A neighbour is ahead by one iteration and never by two (see [`crate::messages`]), so the frames of two arrays suffice: of the one that is
//! swept, and of the one that the sweep writes. It is written when the faces that left from it have come back.

use crate::problem::{Place, Problem};
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};

pub(crate) struct Block {
    problem: Problem,
    grid: Grid<3>,
    /// The iteration whose faces it has sent.
    iteration: u32,
    done: Callback<()>,
}

#[chare(array, index = Place)]
impl Block {
    /// Sends the first faces; those for blocks that do not exist yet wait for them.
    #[entry]
    pub(crate) fn new(problem: Problem, done: Callback<()>) -> Self {
        let block = Self { problem, grid: problem.grid(), iteration: 0, done };
        block.send_faces();
        block
    }

    /// A neighbour's face of an iteration has landed.
    #[entry]
    fn receive(&mut self, side: Side, iteration: u32, #[nocopy(post)] face: Posted<f64>) {
        self.grid.put_frame(side, iteration != self.iteration, face.into_part());
        self.advance();
    }

    /// A neighbour has let go of a face of this block.
    #[entry]
    fn face_back(&mut self, _points: u64) {
        self.advance();
    }

    #[post(receive)]
    fn post_receive(&mut self, side: &Side, iteration: &u32, face: Post<f64>) {
        let frame = self.grid.take_frame(*side, *iteration != self.iteration);
        face.post_part(frame).expect("all faces of a side are as long");
    }

    fn send_faces(&self) {
        let back = self.this_chare().face_back_callback();
        for side in Side::all(3) {
            let neighbour = self.this_collection().at(self.problem.neighbour(chare::this_index(), side));
            let face = self.grid.edge(side).registration(self.problem.registration.into());
            neighbour.receive(side.opposite(), self.iteration, face.on_sent(back));
        }
    }

    /// Sweeps as often as faces allow.
    fn advance(&mut self) {
        while self.iteration < self.problem.iterations && self.grid.make_ready(6) {
            self.problem.sweep(&mut self.grid);
            self.iteration += 1;
            if self.iteration == self.problem.iterations {
                self.problem.check(self.this_index(), &self.grid);
                return self.contribute(barrier(), self.done);
            }
            self.send_faces();
        }
    }
}
