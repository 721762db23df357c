//! A block of the box as a chare that awaits its neighbours' faces: the loop over the iterations is a loop.
//!
//! Faces that come early, also those of an iteration ahead, wait with the block until it asks for them by their iteration.

use crate::problem::{Place, Problem};
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};

pub(crate) struct Block {
    problem: Problem,
    grid: Grid<3>,
}

#[chare(array, index = Place)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        Self { problem, grid: problem.grid() }
    }

    /// A neighbour's face of an iteration.
    #[entry(awaited)]
    fn receive(#[reference] iteration: u32, side: Side, #[nocopy] face: ReceivedView<f64>);

    #[entry]
    pub(crate) async fn run(this: This<Self>, done: Callback<()>) {
        let problem = this.with(|block| block.problem);
        let mut before: Vec<chare::Future<u64>> = Vec::new();
        for iteration in 0..problem.iterations {
            let mut backs = Vec::new();
            for side in Side::all(3) {
                let (back, on_back) = chare::future();
                let neighbour = this.this_collection().at(problem.neighbour(this.this_index(), side));
                let face = this.with(|block| block.grid.edge(side));
                neighbour.receive(iteration, side.opposite(), face.on_sent(on_back));
                backs.push(back);
            }
            for _ in Side::all(3) {
                let (_, side, face) = this.when(Self::receive).reference(iteration).await;
                this.with(|block| block.grid.set_frame(side, face.iter()));
            }
            // The sweep writes the array that the faces of the iteration before have left from.
            chare::wait_all(std::mem::replace(&mut before, backs)).await;
            this.with(|block| {
                assert!(block.grid.make_ready(6), "all faces are here, and those of before are back");
                problem.sweep(&mut block.grid);
            });
        }
        this.with(|block| problem.check(this.this_index(), &block.grid));
        this.contribute(barrier(), done);
    }
}
