//! A block of the rectangle as a chare that awaits its neighbours' edges: the loop over the iterations is a loop. It begins anew where the
//! block has moved in a sync, so what it has come to stands in the block.
//!
//! Edges that come early, also those of an iteration ahead, wait with the block until it asks for them by their iteration.

use crate::problem::{Problem, SWEEPS_PER_VERDICT, sweep};
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Block {
    problem: Problem,
    grid: Grid<2>,
    neighbours: Vec<(Side, BlockElementProxy)>,
    /// Sweeps so far.
    iteration: u64,
    /// The largest change of a point of the rectangle, when it was last asked for.
    change: f64,
}

#[chare(array, index = (u64, u64), migrate, sync)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let here = chare::this_index();
        let grid = problem.grid(here);
        let mut block = Self { problem, grid, neighbours: Vec::new(), iteration: 0, change: f64::INFINITY };
        let blocks = block.this_collection();
        let neighbours = block.problem.neighbours(here);
        block.neighbours = neighbours.map(|(side, index)| (side, blocks.at(index))).collect();
        block
    }

    /// A neighbour's edge of an iteration.
    #[entry(awaited)]
    fn edge(#[reference] iteration: u64, from: Side, #[nocopy] edge: ReceivedView<f64>);

    /// Every block has swept; the largest change is known.
    #[entry(awaited)]
    fn judge(change: f64);

    #[entry]
    pub(crate) async fn run(this: Again<Self>) {
        while this.with(|block| !block.problem.is_over(block.iteration, block.change)) {
            let mut change = 0.0;
            let mut before: Vec<chare::Future<u64>> = Vec::new();
            for _ in 0..SWEEPS_PER_VERDICT {
                let (iteration, backs) = this.with(|block| (block.iteration, block.send_edges()));
                for _ in &backs {
                    let (_, side, edge) = this.when(Self::edge).reference(iteration).await;
                    this.with(|block| block.grid.set_frame(side, edge.iter()));
                }
                // The sweep writes the array that the edges of the iteration before have left from.
                chare::wait_all(std::mem::replace(&mut before, backs)).await;
                change = this.with(Self::sweep);
            }
            chare::wait_all(before).await;
            this.contribute(max(change), this.this_collection().judge_callback());
            let change = this.when(Self::judge).await;
            this.with(|block| block.change = change);
            this.sync().await;
        }
        let (problem, iteration, error) = this.with(|block| {
            let error = block.problem.error_of(block.this_index(), &block.grid);
            (block.problem.clone(), block.iteration, error)
        });
        this.contribute(max(iteration), problem.iterations);
        this.contribute(max(error), problem.error);
    }

    fn sweep(&mut self) -> f64 {
        assert!(
            self.grid.make_ready(self.neighbours.len()),
            "all edges are here, and those of before are back"
        );
        self.iteration += 1;
        sweep(&mut self.grid)
    }

    /// Sends the edges of an iteration; returns when each of them is back.
    fn send_edges(&self) -> Vec<chare::Future<u64>> {
        let send = |(side, block): &(Side, BlockElementProxy)| {
            let (back, on_back) = chare::future();
            block.edge(self.iteration, side.opposite(), self.grid.edge(*side).on_sent(on_back));
            back
        };
        self.neighbours.iter().map(send).collect()
    }
}
