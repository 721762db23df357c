//! Samples: a side takes them in batches and prints one a line; and how far they spread: their median and quartiles.

use std::fmt;
use std::time::Duration;

/// The beginning of a line with a sample.
const MARK: &str = "sample_ns ";

/// That of a line with the library that a side runs with.
const LIBRARY_MARK: &str = "library ";

/// The work of a side. The first batch warms up and is not told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batches {
    /// Operations timed together, so that a look at the clock weighs nothing. Even.
    pub operations: u64,
    /// Batches told.
    pub count: u32,
}

impl Batches {
    /// Tells the time per operation of each batch; `batch` runs the given number of operations and times them.
    pub fn run(self, mut batch: impl FnMut(u64) -> Duration) {
        batch(self.operations);
        for _ in 0..self.count {
            self.tell(batch(self.operations));
        }
    }

    /// As [`Batches::run`], for batches that wait.
    pub async fn run_async(self, mut batch: impl AsyncFnMut(u64) -> Duration) {
        batch(self.operations).await;
        for _ in 0..self.count {
            self.tell(batch(self.operations).await);
        }
    }

    fn tell(self, elapsed: Duration) {
        tell(elapsed.as_nanos() as f64 / self.operations as f64);
    }
}

/// Tells one sample: the time of an operation, in nanoseconds.
pub fn tell(operation_ns: f64) {
    println!("{MARK}{operation_ns}");
}

/// Tells the library that this side runs with, and its version: printed below the table.
pub fn tell_library(name: &str) {
    println!("{LIBRARY_MARK}{name}");
}

/// The library that a line tells, if it is such a line.
pub(crate) fn parse_library(line: &str) -> Option<&str> {
    line.strip_prefix(LIBRARY_MARK)
}

/// The sample that a line tells, if it is such a line.
pub(crate) fn parse(line: &str) -> Option<f64> {
    line.strip_prefix(MARK)?.trim().parse().ok()
}

/// Median and quartiles of samples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spread {
    /// A quarter of the samples are smaller.
    pub lower: f64,
    /// Half of the samples are smaller.
    pub median: f64,
    /// A quarter of the samples are larger.
    pub upper: f64,
}

impl Spread {
    /// The spread of some samples; `None` without any. Sorts a copy.
    pub fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let at = |part: f64| sorted.get(((sorted.len() as f64 - 1.0) * part).round() as usize).copied();
        Some(Self { lower: at(0.25)?, median: at(0.5)?, upper: at(0.75)? })
    }

    /// As of samples that are so many times as large.
    pub fn times(self, factor: f64) -> Self {
        let Self { lower, median, upper } = self;
        Self { lower: lower * factor, median: median * factor, upper: upper * factor }
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { lower, median, upper } = self;
        out.pad(&format!("{median:.1} ({lower:.1} .. {upper:.1})"))
    }
}

#[cfg(test)]
mod tests {
    use super::Spread;
    use super::{parse, parse_library};

    #[test]
    fn other_lines_are_no_samples() {
        assert_eq!(parse("sample_ns 12.5"), Some(12.5));
        assert_eq!(parse("sample_ns many"), None);
        assert_eq!(parse("PE 0 sent 5"), None);
        assert_eq!(parse_library("library Open MPI v5.0.11"), Some("Open MPI v5.0.11"));
        assert_eq!(parse_library("sample_ns 12.5"), None);
    }

    #[test]
    fn quartiles_of_known_samples() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[7.0]), Some(Spread { lower: 7.0, median: 7.0, upper: 7.0 }));
        let spread = Spread::of(&[5.0, 1.0, 4.0, 2.0, 3.0]);
        assert_eq!(spread, Some(Spread { lower: 2.0, median: 3.0, upper: 4.0 }));
        assert_eq!(spread.map(|spread| spread.to_string()).as_deref(), Some("3.0 (2.0 .. 4.0)"));
    }
}
