//! Jobs of the benchmark: a graph, how often its steps run, and the grain of its tasks; the words by which a side is told.

use crate::graph::{Graph, Pattern};
use chare_benches::tell;
use clap::ValueEnum;
use std::time::Duration;

/// Samples of one run of a side; the graph runs once more before.
const BATCHES: u32 = 3;

/// What a side runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Job {
    pub(crate) pattern: Pattern,
    pub(crate) width: usize,
    pub(crate) radix: usize,
    pub(crate) steps: usize,
    pub(crate) grain: u64,
}

impl Job {
    /// The words by which a side is told.
    pub(crate) fn words(&self) -> [String; 5] {
        let Self { pattern, width, radix, steps, grain } = self;
        let pattern = pattern.to_possible_value().expect("no pattern is left out");
        [
            grain.to_string(),
            pattern.get_name().to_owned(),
            width.to_string(),
            radix.to_string(),
            steps.to_string(),
        ]
    }

    /// The job of these words, behind the grain.
    pub(crate) fn read(grain: u64, words: &[String]) -> Option<Self> {
        let [pattern, width, radix, steps] = words else { return None };
        let pattern = Pattern::from_str(pattern, false).ok()?;
        let (width, radix, steps) = (width.parse().ok()?, radix.parse().ok()?, steps.parse().ok()?);
        Some(Self { pattern, width, radix, steps, grain })
    }

    pub(crate) fn graph(&self) -> Graph {
        Graph::new(self.pattern, self.width, self.radix)
    }

    /// How often the graph runs.
    pub(crate) fn runs() -> u32 {
        BATCHES + 1
    }

    /// Tells how long each task took, as if each of so many processors had been busy all the time; the first run warms up.
    pub(crate) fn tell(&self, run: u32, elapsed: Duration, processors: usize) {
        if run > 0 {
            let tasks = (self.width * self.steps) as f64;
            tell(elapsed.as_nanos() as f64 * processors as f64 / tasks);
        }
    }
}
