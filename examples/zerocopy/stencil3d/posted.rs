//! A block of the box as a chare that gives the buffers which its neighbours' faces land in.
//!
//! A neighbour is ahead by one iteration and never by two (see [`crate::messages`]). So each side has two landing buffers, one for even iterations and
//! one for odd, and a landing buffer is free again when its iteration has been swept.

use crate::grid::{Grid, Side};
use crate::problem::{Place, Problem, face_of};
use chare::prelude::*;

/// A side's two buffers, for even and for odd iterations.
#[derive(Default)]
struct Landings {
    /// Out while filled or being filled.
    free: [Option<BufferMut<f64>>; 2],
    arrived: [Option<BufferMut<f64>>; 2],
}

pub(crate) struct Block {
    problem: Problem,
    grid: Grid,
    /// The iteration whose faces it has sent.
    iteration: u32,
    /// By side.
    landings: [Landings; 6],
    done: Callback<()>,
}

fn parity(iteration: u32) -> usize {
    (iteration % 2) as usize
}

#[chare(array, index = Place)]
impl Block {
    /// Sends the first faces; those for blocks that do not exist yet wait for them.
    #[entry]
    pub(crate) fn new(problem: Problem, done: Callback<()>) -> Self {
        let grid = problem.grid();
        let landings = Side::ALL.map(|side| Landings {
            free: [(); 2].map(|()| Some(BufferMut::zeroed(grid.face_len(side)))),
            ..Landings::default()
        });
        let block = Self { problem, grid, iteration: 0, landings, done };
        block.send_faces();
        block
    }

    /// A neighbour's face of an iteration has landed.
    #[entry]
    fn receive(&mut self, side: Side, iteration: u32, #[nocopy(post)] face: Posted<f64>) {
        self.landings[side as usize].arrived[parity(iteration)] = Some(face.into_buffer());
        self.advance();
    }

    #[post(receive)]
    fn post_receive(&mut self, side: &Side, iteration: &u32, face: Post<f64>) {
        let landing = self.landings[*side as usize].free[parity(*iteration)].take();
        let landing = landing.expect("a neighbour is at most one iteration ahead");
        face.post(landing).expect("all faces of a side are as long");
    }

    fn send_faces(&self) {
        for side in Side::ALL {
            let neighbour = self.this_collection().at(self.problem.neighbour(chare::this_index(), side));
            let face = self.problem.mode.send(face_of(&self.grid, side));
            neighbour.receive(side.opposite(), self.iteration, face);
        }
    }

    /// Sweeps as often as faces allow.
    fn advance(&mut self) {
        while self.take_faces() {
            self.grid.sweep();
            self.iteration += 1;
            if self.iteration == self.problem.iterations {
                self.problem.check(self.this_index(), &self.grid);
                return self.contribute(barrier(), self.done);
            }
            self.send_faces();
        }
    }

    /// Takes the faces of the current iteration over, if all have arrived, and frees their landing buffers.
    fn take_faces(&mut self) -> bool {
        let parity = parity(self.iteration);
        let are_here = self.landings.iter().all(|landings| landings.arrived[parity].is_some());
        if are_here {
            for (side, landings) in Side::ALL.into_iter().zip(&mut self.landings) {
                if let Some(face) = landings.arrived[parity].take() {
                    self.grid.set_frame(side, &face);
                    landings.free[parity] = Some(face);
                }
            }
        }
        are_here
    }
}
