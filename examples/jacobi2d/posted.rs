//! A block of the rectangle as a chare that reacts to arrivals: it exchanges edges with its neighbours, sweeps, and takes part
//! in the decision to end.
//!
//! 1. A block sends its edges of iteration `i`, waits for those of its neighbours, sweeps, and goes on with `i + 1`.
//! 2. A neighbour sends its edge of `i + 1` only after it has this block's edge of `i`, but perhaps before this block has
//!    all of its own: a neighbour is ahead by one iteration and never by two. So the frames of two arrays suffice: of the one that is swept,
//!    and of the one that the sweep writes. It is written when the edges that left from it have come back.
//! 3. After every [`SWEEPS_PER_VERDICT`] sweeps the blocks reduce their largest change, wait for the verdict, and may be balanced. Edges of
//!    the next iteration may arrive before that is over, by rule 2 into a free frame.

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
    awaits_verdict: bool,
}

#[chare(array, index = (u64, u64), migrate, sync)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let here = chare::this_index();
        let grid = problem.grid(here);
        // Before the first verdict comes the start.
        let mut block = Self { problem, grid, neighbours: Vec::new(), iteration: 0, awaits_verdict: true };
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

    /// A neighbour's edge of an iteration has landed.
    #[entry]
    fn edge(&mut self, from: Side, iteration: u64, #[nocopy(post)] edge: Posted<f64>) {
        self.grid.put_frame(from, iteration != self.iteration, edge.into_part());
        self.advance();
    }

    #[post(edge)]
    fn post_edge(&mut self, from: &Side, iteration: &u64, edge: Post<f64>) {
        let frame = self.grid.take_frame(*from, *iteration != self.iteration);
        edge.post_part(frame).expect("all edges of a side are as long");
    }

    /// A neighbour has let go of an edge of this block.
    #[entry]
    fn edge_back(&mut self, _points: u64) {
        self.advance();
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
        let back = self.this_chare().edge_back_callback();
        for (side, block) in &self.neighbours {
            block.edge(side.opposite(), self.iteration, self.grid.edge(*side).on_sent(back));
        }
    }

    /// Sweeps as often as edges and verdicts allow.
    fn advance(&mut self) {
        while !self.awaits_verdict && self.grid.make_ready(self.neighbours.len()) {
            let change = sweep(&mut self.grid);
            self.iteration += 1;
            if self.iteration.is_multiple_of(SWEEPS_PER_VERDICT) {
                self.awaits_verdict = true;
                self.contribute(max(change), self.this_collection().judge_callback());
            } else {
                self.send_edges();
            }
        }
    }
}
