//! A block of the box as a chare that receives faces as ordinary arguments, and counts them.
//!
//! A neighbour sends its face of iteration `i + 1` only after it has this block's face of `i`, but perhaps before this block has all of
//! its own: it is ahead by one iteration and never by two. What comes early waits.

use crate::problem::{Place, Problem};
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};

pub(crate) struct Block {
    problem: Problem,
    grid: Grid<3>,
    /// The iteration whose faces it has sent.
    iteration: u32,
    /// Faces of the next iteration.
    early: Vec<(Side, Vec<f64>)>,
    done: Callback<()>,
}

#[chare(array, index = Place)]
impl Block {
    /// Sends the first faces; those for blocks that do not exist yet wait for them.
    #[entry]
    pub(crate) fn new(problem: Problem, done: Callback<()>) -> Self {
        let grid = problem.grid();
        let block = Self { problem, grid, iteration: 0, early: Vec::new(), done };
        block.send_faces();
        block
    }

    /// A neighbour's face of an iteration.
    #[entry]
    fn receive(&mut self, side: Side, iteration: u32, face: Vec<f64>) {
        if iteration == self.iteration {
            self.grid.set_frame(side, &face);
            self.advance();
        } else {
            self.early.push((side, face));
        }
    }

    fn send_faces(&self) {
        for side in Side::all(3) {
            let neighbour = self.this_collection().at(self.problem.neighbour(chare::this_index(), side));
            neighbour.receive(side.opposite(), self.iteration, self.grid.edge_values(side));
        }
    }

    /// Sweeps as often as faces allow.
    fn advance(&mut self) {
        while self.grid.make_ready(6) {
            self.problem.sweep(&mut self.grid);
            self.iteration += 1;
            if self.iteration == self.problem.iterations {
                self.problem.check(self.this_index(), &self.grid);
                return self.contribute(barrier(), self.done);
            }
            self.send_faces();
            for (side, face) in std::mem::take(&mut self.early) {
                self.grid.set_frame(side, &face);
            }
        }
    }
}
