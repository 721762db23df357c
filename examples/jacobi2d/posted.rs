//! A block of the rectangle as a chare that reacts to arrivals: it exchanges edges with its neighbours, sweeps, and takes part
//! in the decision to end.
//!
//! 1. A block sends its edges of iteration `i`, waits for those of its neighbours, sweeps, and goes on with `i + 1`.
//! 2. A neighbour sends its edge of `i + 1` only after it has this block's edge of `i`, but perhaps before this block has
//!    all of its own: a neighbour is ahead by one iteration and never by two. So each side has two landing buffers, one
//!    for even iterations and one for odd, and a landing buffer is free again when its iteration has been swept.
//! 3. After every [`SWEEPS_PER_VERDICT`] sweeps the blocks reduce their largest change and wait for the verdict. Edges of the
//!    next iteration may arrive before it, by rule 2 into free buffers.

use crate::grid::Grid;
use crate::problem::{Problem, SWEEPS_PER_VERDICT, Side};
use chare::prelude::*;

/// A neighbour's edges: where they land, and what has landed.
struct Neighbour {
    side: Side,
    block: BlockElementProxy,
    /// For even and for odd iterations; out while filled or being filled.
    landing: [Option<BufferMut<f64>>; 2],
    arrived: [Option<BufferMut<f64>>; 2],
}

pub(crate) struct Block {
    problem: Problem,
    grid: Grid,
    neighbours: Vec<Neighbour>,
    /// The iteration whose edges it has sent.
    iteration: u64,
    awaits_verdict: bool,
}

fn parity(iteration: u64) -> usize {
    (iteration % 2) as usize
}

#[chare(array, index = (u64, u64))]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let here = chare::this_index();
        let grid = problem.grid(here);
        // Before the first verdict comes the start.
        let mut block = Self { problem, grid, neighbours: Vec::new(), iteration: 0, awaits_verdict: true };
        block.meet_neighbours(here);
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
        let neighbour = self.neighbour(from);
        neighbour.arrived[parity(iteration)] = Some(edge.into_buffer());
        self.advance();
    }

    #[post(edge)]
    fn post_edge(&mut self, from: &Side, iteration: &u64, edge: Post<f64>) {
        let landing = self.neighbour(*from).landing[parity(*iteration)].take();
        let landing = landing.expect("a neighbour is at most one iteration ahead");
        edge.post(landing).expect("all edges of a side are as long");
    }

    /// Every block has swept; the largest change is known.
    #[entry]
    fn judge(&mut self, change: f64) {
        if change <= self.problem.tolerance {
            self.contribute(max(self.iteration), self.problem.iterations);
            self.contribute(max(self.grid.error()), self.problem.error);
        } else {
            self.go_on();
        }
    }

    fn go_on(&mut self) {
        self.awaits_verdict = false;
        self.send_edges();
        self.advance();
    }

    fn meet_neighbours(&mut self, here: (u64, u64)) {
        for (side, index) in self.problem.neighbours(here) {
            let landing = [(); 2].map(|()| Some(BufferMut::zeroed(self.grid.edge_len(side))));
            let block = self.this_collection().at(index);
            self.neighbours.push(Neighbour { side, block, landing, arrived: [None, None] });
        }
    }

    fn neighbour(&mut self, side: Side) -> &mut Neighbour {
        let found = self.neighbours.iter_mut().find(|neighbour| neighbour.side == side);
        found.expect("edges come from neighbours")
    }

    /// Sends the edges of the current iteration.
    fn send_edges(&self) {
        for Neighbour { side, block, .. } in &self.neighbours {
            // In memory of the runtime, which other processes of the host read in place.
            let edge =
                BufferMut::from_fn(self.grid.edge_len(*side), |position| self.grid.edge(*side, position));
            block.edge(side.opposite(), self.iteration, edge);
        }
    }

    /// Sweeps as often as edges and verdicts allow.
    fn advance(&mut self) {
        while !self.awaits_verdict && self.take_edges() {
            let change = self.grid.sweep();
            self.iteration += 1;
            if self.iteration.is_multiple_of(SWEEPS_PER_VERDICT) {
                self.awaits_verdict = true;
                self.contribute(max(change), self.this_collection().judge_callback());
            } else {
                self.send_edges();
            }
        }
    }

    /// Takes the edges of the current iteration over, if all have arrived, and frees their landing buffers.
    fn take_edges(&mut self) -> bool {
        let parity = parity(self.iteration);
        let complete = self.neighbours.iter().all(|neighbour| neighbour.arrived[parity].is_some());
        if complete {
            for Neighbour { side, landing, arrived, .. } in &mut self.neighbours {
                if let Some(edge) = arrived[parity].take() {
                    self.grid.set_frame(*side, &edge);
                    landing[parity] = Some(edge);
                }
            }
        }
        complete
    }
}
