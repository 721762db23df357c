//! A block of the box as a chare that awaits its neighbours' faces: the loop over the iterations is a loop.
//!
//! Faces that come early, also those of an iteration ahead, wait with the block until it asks for them by their iteration.

use crate::grid::{Grid, Side};
use crate::problem::{Place, Problem, face_of};
use chare::prelude::*;

pub(crate) struct Block {
    problem: Problem,
    grid: Grid,
}

#[chare(array, index = Place)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        Self { problem, grid: problem.grid() }
    }

    /// A neighbour's face of an iteration.
    #[entry(awaited)]
    fn receive(#[reference] iteration: u32, side: Side, #[nocopy] face: Received<f64>);

    #[entry]
    pub(crate) async fn run(this: This<Self>, done: Callback<()>) {
        let problem = this.with(|block| block.problem);
        for iteration in 0..problem.iterations {
            for side in Side::ALL {
                let neighbour = this.collection().at(problem.neighbour(this.index(), side));
                neighbour.receive(iteration, side.opposite(), this.with(|block| face_of(&block.grid, side)));
            }
            for _ in Side::ALL {
                let (_, side, face) = this.when(Self::receive).reference(iteration).await;
                this.with(|block| block.grid.set_frame(side, &face));
            }
            this.with(|block| block.grid.sweep());
        }
        this.with(|block| problem.check(this.index(), &block.grid));
        this.contribute(barrier(), done);
    }
}
