//! A block as a chare that moves: it lets masses flow for a generation, then stays, or makes place for its halves or for the block of which it is
//! one, and comes to a sync.
//!
//! ```text
//! stays    run -> sync -> run
//! splits   run -> inserts its halves -> ends, when both are born     halves: born -> sync -> run
//! joins    run -> the left half inserts the whole, the right one gives it its masses
//!                 the whole: has both -> ends its halves -> sync -> run
//! ```
//! A block that others take the place of ends when they are there, not before: until then it is awaited, so the sync is not over. If a sync were
//! over before a newborn is awaited, the newborn would wait for the next one, to which its neighbours do not come without it.

use crate::ring::{Fate, Place, Ring, halves, join, split, whole};
use chare::prelude::*;
use chare::{ThisInSyncs, bit_xor};
use chare_examples::loads;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Blocks, the mass of all, and a fingerprint of who has how much.
pub(crate) type Sums = (u64, u64, u64);

/// Where a block comes from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Origin {
    Beginning,
    /// It is a half of a block that splits, with these masses.
    Whole(Vec<u64>),
    /// Its left half, which has these masses, has inserted it.
    LeftHalf(Vec<u64>),
}

/// What is to be done.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Course {
    pub(crate) ring: Ring,
    pub(crate) generations: u32,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Block {
    course: Course,
    generation: u32,
    masses: Vec<u64>,
    /// Of its halves, if it splits.
    born: u32,
}

#[chare(array, index = Place, migrate, sync)]
impl Block {
    #[entry]
    pub(crate) fn new(course: Course, generation: u32, origin: Origin) -> Self {
        let masses = match &origin {
            Origin::Beginning => course.ring.first_masses(chare::this_index()),
            Origin::Whole(masses) | Origin::LeftHalf(masses) => masses.clone(),
        };
        let block = Self { course, generation, masses, born: 0 };
        match origin {
            Origin::Beginning => block.this_chare().run(),
            Origin::Whole(_) => block.this_chare().begin(),
            Origin::LeftHalf(_) => {}
        }
        block
    }

    /// What flows into a block in a step.
    #[entry(awaited)]
    fn flow(#[reference] step: u32, mass: u64);

    /// One generation.
    #[entry]
    async fn run(this: This<Self>) {
        let (ring, generation) = this.with(|block| (block.course.ring, block.generation));
        let here = this.this_index();
        let right = this.this_collection().at(ring.right_of(here, generation));
        for step in 0..ring.steps() {
            let step = generation * ring.steps() + step;
            right.flow(step, this.with(|block| ring.outflow(here, &block.masses)));
            let (_, inflow) = this.when(Self::flow).reference(step).await;
            this.with(|block| ring.flow(here, &mut block.masses, inflow));
        }
        loads::note(generation, u64::from(ring.steps()) * u64::from(ring.cells));
        this.with(Self::go_on);
    }

    /// Half of a block that splits.
    #[entry]
    fn begin(&mut self) {
        let (whole, _) = whole(self.this_index());
        self.this_collection().at(whole).see_born();
        self.sync_then(self.this_chare().run_callback());
    }

    #[entry]
    fn see_born(&mut self) {
        self.born += 1;
        if self.born == 2 {
            chare::destroy();
        }
    }

    /// The masses of the right half, of a block that has those of the left one.
    #[entry]
    fn take_right(&mut self, masses: Vec<u64>) {
        self.masses = join(&self.masses, &masses);
        halves(self.this_index()).into_iter().for_each(|half| self.this_collection().at(half).destroy());
        self.sync_then(self.this_chare().run_callback());
    }

    #[entry]
    pub(crate) fn report(&self, done: Callback<Sums>) {
        let mass: u64 = self.masses.iter().sum();
        let fingerprint = fingerprint(self.this_index(), &self.masses);
        self.contribute(tuple((sum(1_u64), sum(mass), bit_xor(fingerprint))), done);
    }

    /// All blocks have as many cells.
    #[load]
    fn load(&self) -> f64 {
        1.0
    }

    #[position]
    fn position(&self) -> [f64; 3] {
        let (level, place) = self.this_index();
        [(f64::from(place) + 0.5) / f64::from(1_u32 << level), 0.0, 0.0]
    }
}

impl Block {
    fn go_on(&mut self) {
        self.generation += 1;
        let (course, generation, here) = (self.course, self.generation, self.this_index());
        if generation == course.generations {
            return;
        }
        let (blocks, masses) = (self.this_collection(), std::mem::take(&mut self.masses));
        match course.ring.fate(here, generation) {
            Fate::Stays => {
                self.masses = masses;
                self.sync_then(self.this_chare().run_callback());
            }
            Fate::Splits => {
                for (half, masses) in halves(here).into_iter().zip(split(&masses)) {
                    let origin = Origin::Whole(masses);
                    blocks.at(half).insert_on(chare::my_pe(), course, generation, origin);
                }
            }
            Fate::Joins => match whole(here) {
                (whole, true) => blocks.at(whole).take_right(masses),
                (whole, false) => {
                    let origin = Origin::LeftHalf(masses);
                    blocks.at(whole).insert_on(chare::my_pe(), course, generation, origin);
                }
            },
        }
    }
}

/// A number that depends on a block and its masses.
pub(crate) fn fingerprint(block: Place, masses: &[u64]) -> u64 {
    let mut hasher = DefaultHasher::new();
    (block, masses).hash(&mut hasher);
    hasher.finish()
}
