//! A patch of cells as a chare that moves, with the particles that are in them: in each step it lets them go, and hands over those that have
//! left. What acts on them is the field of its index, which is beside it.

use crate::field::FieldProxy;
use crate::particle::{Cell, Grid, Particle};
use chare::ThisInSyncs;
use chare::prelude::*;
use chare_examples::loads;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A patch, by its place along both sides.
pub(crate) type Place = (u32, u32);

/// What is computed, and how it is cut.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) grid: Grid,
    /// Patches along each side.
    pub(crate) patches: u32,
    pub(crate) steps: u32,
    /// Steps between two syncs.
    pub(crate) every: u32,
    /// Whether all particles are looked at before each sync, and not at the end alone.
    pub(crate) verify: bool,
}

/// Particles, their numbers' sum, and how often one was not where it belongs.
pub(crate) type Sums = (u64, u64, u64);

impl Problem {
    /// Cells of a patch along each side.
    pub(crate) fn cells(self) -> u32 {
        self.grid.side / self.patches
    }

    /// The cell at the lower left of a patch.
    pub(crate) fn first_cell(self, (x, y): Place) -> Cell {
        [x, y].map(|along| along * self.cells())
    }

    /// The patches that particles of this one may come to in a step. They may come from as many.
    fn ahead(self, (x, y): Place) -> impl Iterator<Item = Place> {
        let [right, up] = [self.grid.columns_each(), self.grid.climb].map(|far| far.div_ceil(self.cells()));
        let along = move |at: u32, step: u32| (at + step) % self.patches;
        let places =
            (0..=right).flat_map(move |right| (0..=up).map(move |up| (along(x, right), along(y, up))));
        places.filter(move |place| *place != (x, y))
    }
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Patch {
    problem: Problem,
    particles: Vec<Particle>,
    step: u32,
    misplaced: u64,
    fields: Option<FieldProxy>,
    done: Option<Callback<Sums>>,
}

#[chare(array, index = Place, migrate, sync)]
impl Patch {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let (cells, [left, bottom]) = (problem.cells(), problem.first_cell(chare::this_index()));
        let inside = (0..cells).flat_map(|row| (0..cells).map(move |column| [left + column, bottom + row]));
        let particles = inside.flat_map(|cell| problem.grid.particles_of(cell)).collect();
        Self { problem, particles, step: 0, misplaced: 0, fields: None, done: None }
    }

    /// Takes all steps in these fields; `done` gets what came of the particles.
    #[entry]
    pub(crate) fn run(&mut self, fields: FieldProxy, done: Callback<Sums>) {
        (self.fields, self.done) = (Some(fields), Some(done));
        self.this_chare().step();
    }

    /// Particles that come from another patch in a step: often none.
    #[entry(awaited)]
    fn arrive(#[reference] step: u32, particles: Vec<Particle>);

    #[entry]
    async fn step(this: This<Self>) {
        let step = this.with(|patch| patch.step);
        let leaving = this.with(Self::let_go);
        let neighbours = leaving.len();
        for (place, particles) in leaving {
            this.this_collection().at(place).arrive(step, particles);
        }
        for _ in 0..neighbours {
            let (_, particles) = this.when(Self::arrive).reference(step).await;
            this.with(|patch| patch.particles.extend(particles));
        }
        this.with(Self::go_on);
    }

    #[load]
    fn load(&self) -> f64 {
        self.particles.len() as f64
    }

    #[position]
    fn position(&self) -> [f64; 3] {
        let (x, y) = self.this_index();
        [x.into(), y.into(), 0.0]
    }
}

impl Patch {
    /// Lets all particles go one step. Returns those that have left, for each patch around that they may have come to.
    fn let_go(&mut self) -> BTreeMap<Place, Vec<Particle>> {
        let (problem, here) = (self.problem, self.this_index());
        loads::note(self.step / problem.every, self.particles.len() as u64);
        let mut leaving: BTreeMap<_, _> = problem.ahead(here).map(|place| (place, Vec::new())).collect();
        let field = self.fields.as_ref().expect("steps are taken in fields").at(here);
        let stepped = field.local(|field| {
            for mut particle in std::mem::take(&mut self.particles) {
                particle.go(problem.grid, field.around(problem.grid.cell_of(&particle)));
                let [x, y] = problem.grid.cell_of(&particle).map(|along| along / problem.cells());
                leaving.get_mut(&(x, y)).unwrap_or(&mut self.particles).push(particle);
            }
        });
        stepped.expect("the field is bound to its patch");
        leaving
    }

    fn go_on(&mut self) {
        self.step += 1;
        let Problem { grid, steps, every, verify, .. } = self.problem;
        let (is_over, is_sync) = (self.step == steps, self.step.is_multiple_of(every));
        if is_over || is_sync && verify {
            let misplaced = self.particles.iter().filter(|particle| particle.is_misplaced(grid, self.step));
            self.misplaced += misplaced.count() as u64;
        }
        if is_over {
            let numbers: u64 = self.particles.iter().map(|particle| particle.number).sum();
            let sums = (sum(self.particles.len() as u64), sum(numbers), sum(self.misplaced));
            let done = self.done.take().expect("steps are taken for somebody");
            self.contribute(tuple(sums), done);
        } else if is_sync {
            self.sync_then(self.this_chare().step_callback());
        } else {
            self.this_chare().step();
        }
    }
}
