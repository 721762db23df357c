//! Samples: a side takes them in batches and prints one a line.

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

#[cfg(test)]
mod tests {
    use super::{parse, parse_library};

    #[test]
    fn other_lines_are_no_samples() {
        assert_eq!(parse("sample_ns 12.5"), Some(12.5));
        assert_eq!(parse("sample_ns many"), None);
        assert_eq!(parse("PE 0 sent 5"), None);
        assert_eq!(parse_library("library Open MPI v5.0.11"), Some("Open MPI v5.0.11"));
        assert_eq!(parse_library("sample_ns 12.5"), None);
    }
}
