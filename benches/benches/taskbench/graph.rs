//! Task graphs: points in steps, each of which takes the values of some points of the step before. The patterns are those of Task Bench
//! (Slaughter and others, "Task Bench: A Parameterized Benchmark for Evaluating Parallel Runtime Performance", SC20, table II).

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

/// Who depends on whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug, clap::ValueEnum)]
pub(crate) enum Pattern {
    /// A point and those beside it.
    Stencil,
    /// As many around a point as the radix says, itself among them.
    Nearest,
    /// As many as the radix says, apart as far as they can be, and others in each step.
    Spread,
    /// Each of the nearest with a chance of one half.
    RandomNearest,
    /// Butterflies of a fast Fourier transform.
    Fft,
    /// The point at half of the place, as in a tree that is walked down.
    Tree,
    /// A point and the one before: a wavefront.
    Dom,
    /// All points.
    AllToAll,
}

/// One graph.
pub(crate) struct Graph {
    pub(crate) width: usize,
    /// By step, round and round: the inputs of each point.
    inputs: Vec<Vec<Vec<usize>>>,
    /// By step, round and round: the points of the next step that take each point's value.
    outputs: Vec<Vec<Vec<usize>>>,
}

impl Graph {
    /// The graph of a pattern with so many points in a step, of which so many are inputs where the pattern leaves that open.
    pub(crate) fn new(pattern: Pattern, width: usize, radix: usize) -> Self {
        let log = width.next_power_of_two().trailing_zeros().max(1) as usize;
        let period = match pattern {
            Pattern::Fft => log,
            Pattern::Spread | Pattern::RandomNearest => 3,
            _ => 1,
        };
        let mut chance = ChaCha8Rng::seed_from_u64(width as u64);
        let mut inputs = Vec::with_capacity(period);
        for step in 0..period {
            let around = |point: usize| {
                let first = point.saturating_sub(radix / 2);
                first..(point + radix.div_ceil(2)).min(width)
            };
            let mut of = |point: usize| -> Vec<usize> {
                match pattern {
                    Pattern::Stencil => (point.saturating_sub(1)..(point + 2).min(width)).collect(),
                    Pattern::Nearest => around(point).collect(),
                    Pattern::Spread => (0..radix.min(width))
                        .map(|turn| (point + step + turn * width / radix) % width)
                        .collect(),
                    Pattern::RandomNearest => {
                        around(point).filter(|other| *other == point || chance.random()).collect()
                    }
                    Pattern::Fft => {
                        let apart = 1 << step;
                        let beside = [point.checked_sub(apart), Some(point + apart)];
                        let beside = beside.into_iter().flatten().filter(|other| *other < width);
                        beside.chain([point]).collect()
                    }
                    Pattern::Tree => vec![point / 2],
                    Pattern::Dom => (point.saturating_sub(1)..=point).collect(),
                    Pattern::AllToAll => (0..width).collect(),
                }
            };
            let mut all: Vec<Vec<usize>> = (0..width).map(&mut of).collect();
            for inputs in &mut all {
                inputs.sort_unstable();
                inputs.dedup();
            }
            inputs.push(all);
        }
        let turned = |next: &Vec<Vec<usize>>| {
            let mut outputs = vec![Vec::new(); width];
            for (point, inputs) in next.iter().enumerate() {
                inputs.iter().for_each(|input| outputs[*input].push(point));
            }
            outputs
        };
        let outputs = (0..period).map(|step| turned(&inputs[(step + 1) % period])).collect();
        Self { width, inputs, outputs }
    }

    /// After how many steps the dependences begin anew.
    pub(crate) fn period(&self) -> usize {
        self.outputs.len()
    }

    /// The points of the step before whose values a point takes; none in step 0.
    pub(crate) fn inputs(&self, step: usize, point: usize) -> &[usize] {
        if step == 0 { &[] } else { &self.inputs[step % self.inputs.len()][point] }
    }

    /// The points of the next step that take a point's value.
    pub(crate) fn outputs(&self, step: usize, point: usize) -> &[usize] {
        &self.outputs[step % self.outputs.len()][point]
    }

    /// The sum of the last step's values, computed by one thread: what every side has to come to.
    pub(crate) fn result(&self, steps: usize) -> u64 {
        let mut values: Vec<u64> = Vec::new();
        for step in 0..steps {
            let of = |point: usize| {
                let inputs = self.inputs(step, point).iter().map(|input| values[*input]);
                value(step, point, inputs.fold(0, u64::wrapping_add))
            };
            values = (0..self.width).map(of).collect();
        }
        values.into_iter().fold(0, u64::wrapping_add)
    }

    /// The points that a worker has: a block, like those of the others.
    pub(crate) fn block(&self, worker: usize, workers: usize) -> std::ops::Range<usize> {
        self.width * worker / workers..self.width * (worker + 1) / workers
    }

    /// The worker that has a point.
    pub(crate) fn owner(&self, point: usize, workers: usize) -> usize {
        (0..workers)
            .find(|worker| self.block(*worker, workers).contains(&point))
            .expect("blocks have all points")
    }
}

/// The value of a point, given the sum of its inputs: never 0, and another one if any input is another one, lacks or comes twice.
pub(crate) fn value(step: usize, point: usize, inputs: u64) -> u64 {
    let mixed = (inputs ^ (step as u64) << 32 ^ point as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 29 | 1
}
