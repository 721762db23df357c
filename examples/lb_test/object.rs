//! An object as a chare that moves: in each step it tells others a value, hears theirs, works, and makes its next value of what it has heard.

use crate::graph::Graph;
use chare::ThisInSyncs;
use chare::prelude::*;
use chare_examples::loads;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use serde::{Deserialize, Serialize};
use std::hint::black_box;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Problem {
    pub(crate) graph: Graph,
    pub(crate) steps: u32,
    /// Steps between two syncs.
    pub(crate) every: u32,
    /// The work of objects: the least, and the most.
    pub(crate) work: (u32, u32),
    /// Bytes that objects tell beside their values.
    pub(crate) bytes: u32,
}

/// What a unit of work computes: about a microsecond.
const ROUNDS: u32 = 1_000;

/// The factor of a generator of numbers (Knuth, MMIX).
const FACTOR: u64 = 6_364_136_223_846_793_005;

impl Problem {
    /// The work of an object in each step. Few have much.
    fn work_of(self, object: u64) -> u32 {
        let (least, most) = self.work;
        let share: f64 = SmallRng::seed_from_u64(object).random::<f64>().powi(5);
        least + (f64::from(most - least) * share).round() as u32
    }
}

/// Works, and has nothing to show for it.
fn work(units: u32) {
    let rounds = u64::from(units) * u64::from(ROUNDS);
    black_box((0..rounds).fold(black_box(1_u64), |number, round| number.wrapping_mul(FACTOR) ^ round));
}

/// An object's value in the beginning.
pub(crate) fn first_value(object: u64) -> u64 {
    (object + 1).wrapping_mul(FACTOR)
}

/// Its next one, when those that it has heard add up to `heard`.
pub(crate) fn next_value(value: u64, heard: u64) -> u64 {
    value.wrapping_mul(FACTOR).wrapping_add(heard).rotate_left(17)
}

/// What an object has heard in a step.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Heard {
    values: usize,
    sum: u64,
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Object {
    problem: Problem,
    value: u64,
    step: u32,
    /// Whether it has told the others its value of this step.
    has_told: bool,
    /// Of this step and of the next one, for others may be ahead by one: by the step's last bit.
    heard: [Heard; 2],
    done: Option<Callback<u64>>,
}

#[chare(array, migrate, sync)]
impl Object {
    #[entry]
    pub(crate) fn new(problem: Problem) -> Self {
        let value = first_value(chare::this_index());
        Self { problem, value, step: 0, has_told: false, heard: [Heard::default(); 2], done: None }
    }

    /// Takes all steps; `done` gets the sum of all values.
    #[entry]
    pub(crate) fn run(&mut self, done: Callback<u64>) {
        self.done = Some(done);
        self.tell();
    }

    /// Begins a step.
    #[entry]
    fn tell(&mut self) {
        for object in self.problem.graph.told_by(self.this_index()) {
            let padding = vec![0; self.problem.bytes as usize];
            self.this_collection().at(object).hear(self.step, chare::my_node(), self.value, padding);
        }
        self.has_told = true;
        self.work_if_ready();
    }

    #[entry]
    fn hear(&mut self, step: u32, from: NodeId, value: u64, padding: Vec<u8>) {
        if from != chare::my_node() {
            loads::note_crossing(step / self.problem.every, (size_of::<u64>() + padding.len()) as u64);
        }
        let heard = &mut self.heard[step as usize % 2];
        heard.values += 1;
        heard.sum = heard.sum.wrapping_add(value);
        self.work_if_ready();
    }

    #[position]
    fn position(&self) -> [f64; 3] {
        let [x, y] = self.problem.graph.place(self.this_index());
        [x, y, 0.0]
    }
}

impl Object {
    fn work_if_ready(&mut self) {
        let Problem { graph, steps, every, .. } = self.problem;
        let heard = self.heard[self.step as usize % 2];
        if !self.has_told || heard.values < graph.told_by(self.this_index()).len() {
            return;
        }
        let units = self.problem.work_of(self.this_index());
        work(units);
        loads::note(self.step / every, units.into());
        self.heard[self.step as usize % 2] = Heard::default();
        self.value = next_value(self.value, heard.sum);
        self.step += 1;
        self.has_told = false;
        if self.step == steps {
            let done = self.done.take().expect("steps are taken for somebody");
            self.contribute(sum(self.value >> 32), done);
        } else if self.step.is_multiple_of(every) {
            self.sync_then(self.this_chare().tell_callback());
        } else {
            self.this_chare().tell();
        }
    }
}
