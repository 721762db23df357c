//! A block of the rectangle as a chare that receives edges as ordinary arguments, and counts them.
//!
//! A neighbour may be one iteration ahead and never two (see [`crate::posted`]): its edges wait until this block has swept.

use crate::problem::{Problem, SWEEPS_PER_VERDICT, sweep};
use chare::ThisInSyncs;
use chare::prelude::*;
use chare_examples::stencil::{Grid, Side};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
pub(crate) struct Block {
    problem: Problem,
    grid: Grid<2>,
    neighbours: Vec<(Side, BlockElementProxy)>,
    /// The iteration whose edges it has sent.
    iteration: u64,
    /// Edges of the next iteration.
    early: Vec<(Side, Vec<f64>)>,
    awaits_verdict: bool,
}

#[chare(array, index = (u64, u64), migrate, sync)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let here = chare::this_index();
        let mut block = Self {
            grid: problem.grid(here),
            problem,
            neighbours: Vec::new(),
            iteration: 0,
            early: Vec::new(),
            // Before the first verdict comes the start.
            awaits_verdict: true,
        };
        let blocks = block.this_collection();
        let neighbours = block.problem.neighbours(here);
        block.neighbours = neighbours.map(|(side, index)| (side, blocks.at(index))).collect();
        block
    }

    /// Begins. A broadcast: edges of neighbours that heard it earlier may come before it.
    #[entry]
    pub(crate) fn start(&mut self) {
        self.go_on();
    }

    /// A neighbour's edge of an iteration.
    #[entry]
    fn edge(&mut self, from: Side, iteration: u64, edge: Vec<f64>) {
        if iteration == self.iteration {
            self.grid.set_frame(from, &edge);
            self.advance();
        } else {
            self.early.push((from, edge));
        }
    }

    /// Every block has swept; the largest change is known.
    #[entry]
    fn judge(&mut self, change: f64) {
        if self.problem.is_over(self.iteration, change) {
            self.contribute(max(self.iteration), self.problem.iterations);
            self.contribute(max(self.problem.error_of(self.this_index(), &self.grid)), self.problem.error);
        } else {
            self.sync_then(self.this_chare().go_on_callback());
        }
    }

    /// The sync is over.
    #[entry]
    fn go_on(&mut self) {
        self.awaits_verdict = false;
        self.send_edges();
        self.advance();
    }

    /// Sends the edges of the current iteration.
    fn send_edges(&self) {
        for (side, block) in &self.neighbours {
            block.edge(side.opposite(), self.iteration, self.grid.edge_values(*side));
        }
    }

    /// Sweeps as often as edges and verdicts allow.
    fn advance(&mut self) {
        while !self.awaits_verdict && self.grid.make_ready(self.neighbours.len()) {
            let change = sweep(&mut self.grid);
            self.iteration += 1;
            for (side, edge) in std::mem::take(&mut self.early) {
                self.grid.set_frame(side, &edge);
            }
            if self.iteration.is_multiple_of(SWEEPS_PER_VERDICT) {
                self.awaits_verdict = true;
                self.contribute(max(change), self.this_collection().judge_callback());
            } else {
                self.send_edges();
            }
        }
    }
}
