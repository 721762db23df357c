//! A block of the field as a chare that moves: it tells its neighbours its faces, sweeps when it has theirs, and comes to a sync from time
//! to time.

use crate::cube::Cube;
use chare::prelude::*;
use chare::{ThisInSyncs, bit_xor};
use chare_examples::loads;
use chare_examples::stencil::Side;
use serde::{Deserialize, Serialize};

/// The field, whose opposite sides touch, and what is done with it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Problem {
    /// Blocks along each axis.
    pub(crate) blocks: u32,
    /// Points of a block along each axis.
    pub(crate) points: u32,
    pub(crate) steps: u32,
    /// Steps between two syncs.
    pub(crate) every: u32,
    /// How often the last block computes each step; the first one does so once.
    pub(crate) sweeps: u32,
}

impl Problem {
    /// How often a block computes each step: the more, the farther along the first axis.
    fn sweeps_of(self, (x, y, z): (u32, u32, u32)) -> u32 {
        let number = (x * self.blocks + y) * self.blocks + z;
        1 + (self.sweeps - 1) * number / (self.blocks.pow(3) - 1).max(1)
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Block {
    problem: Problem,
    cube: Cube,
    step: u32,
    done: Option<Callback<u64>>,
}

#[chare(array, index = (u32, u32, u32), migrate, sync)]
impl Block {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let cube = Cube::new(problem.points as usize, first_point(chare::this_index(), problem));
        Self { problem, cube, step: 0, done: None }
    }

    /// Takes all steps; `done` gets the fingerprint of the field.
    #[entry]
    pub(crate) fn run(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.this_chare().step();
    }

    /// A neighbour's face, on this side, as it is before a step.
    #[entry(awaited)]
    fn face(#[reference] step: u32, side: Side, face: Vec<f64>);

    /// The target of the barrier that ends a step, and of the sync.
    #[entry]
    async fn step(this: This<Self>) {
        this.with(|block| block.send_faces());
        let step = this.with(|block| block.step);
        for _ in Side::all(3) {
            let (_, side, face) = this.when(Self::face).reference(step).await;
            this.with(|block| block.cube.set_frame(side, &face));
        }
        this.with(Self::sweep);
        this.with(Self::go_on);
    }

    #[position]
    fn position(&self) -> [f64; 3] {
        let (x, y, z) = self.this_index();
        [x, y, z].map(f64::from)
    }
}

/// Where a block's first point is in the whole field.
fn first_point((x, y, z): (u32, u32, u32), problem: Problem) -> [usize; 3] {
    [x, y, z].map(|along| (along * problem.points) as usize)
}

impl Block {
    fn send_faces(&self) {
        let (blocks, (x, y, z)) = (self.this_collection(), self.this_index());
        for side in Side::all(3) {
            let beside = side.around([x, y, z].map(u64::from), [self.problem.blocks.into(); 3]);
            let [x, y, z] = beside.map(|along| along as u32);
            blocks.at((x, y, z)).face(self.step, side.opposite(), self.cube.face(side));
        }
    }

    fn sweep(&mut self) {
        let sweeps = self.problem.sweeps_of(self.this_index());
        self.cube.sweep(sweeps);
        loads::note(self.step / self.problem.every, sweeps.into());
        self.step += 1;
    }

    /// What Charm++ calls `AtSync` and `ResumeFromSync` is one line.
    fn go_on(&mut self) {
        if self.step == self.problem.steps {
            let fingerprint = self.cube.fingerprint(first_point(self.this_index(), self.problem));
            let done = self.done.take().expect("steps are taken for somebody");
            self.contribute(bit_xor(fingerprint), done);
        } else if self.step.is_multiple_of(self.problem.every) {
            self.sync_then(self.this_chare().step_callback());
        } else {
            self.contribute(barrier(), self.this_collection().step_callback());
        }
    }
}
