//! Runs: pieces of a peer's range that one transfer moves, each with its place at this end.

use std::sync::Arc;

/// A piece of a range, and its place at this end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Run {
    /// First byte within the range.
    pub at: u64,
    /// First byte within the memory at this end.
    pub here: usize,
    /// Number of bytes.
    pub len: usize,
}

/// The runs of one transfer. Cloning shares them.
#[derive(Clone, Debug)]
pub struct Runs(Arc<Measured>);

/// Runs, and how far they reach.
#[derive(Debug)]
struct Measured {
    runs: Box<[Run]>,
    bytes: usize,
    range_bytes: u64,
    local_bytes: usize,
}

impl Runs {
    /// Runs in the order in which they move; those without bytes are left out. One pass over them.
    ///
    /// # Panics
    /// If a run ends, or all have more bytes than, numbers reach.
    pub fn new(runs: impl IntoIterator<Item = Run>) -> Self {
        let runs: Box<[Run]> = runs.into_iter().filter(|run| run.len > 0).collect();
        let none = "runs lie within memory";
        let ends = |run: &Run| (run.at.checked_add(run.len as u64), run.here.checked_add(run.len));
        Self(Arc::new(Measured {
            bytes: runs.iter().fold(0, |bytes: usize, run| bytes.checked_add(run.len).expect(none)),
            range_bytes: runs.iter().map(|run| ends(run).0.expect(none)).max().unwrap_or(0),
            local_bytes: runs.iter().map(|run| ends(run).1.expect(none)).max().unwrap_or(0),
            runs,
        }))
    }

    /// Bytes of all runs.
    pub fn bytes(&self) -> usize {
        self.0.bytes
    }

    /// Bytes of the range from its first one to the end of the run that reaches farthest.
    pub fn range_bytes(&self) -> u64 {
        self.0.range_bytes
    }

    /// Bytes of the memory at this end, likewise.
    pub fn local_bytes(&self) -> usize {
        self.0.local_bytes
    }

    /// One of them, in the order in which they move.
    pub fn nth(&self, index: usize) -> Option<Run> {
        self.0.runs.get(index).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_reach_as_far_as_the_farthest_and_those_without_bytes_reach_nowhere() {
        let run = |at, here, len| Run { at, here, len };
        let runs = Runs::new([run(40, 0, 8), run(1 << 40, 99, 0), run(0, 20, 4)]);
        assert_eq!((runs.bytes(), runs.range_bytes(), runs.local_bytes()), (12, 48, 24));
        let none = Runs::new([]);
        assert_eq!((none.bytes(), none.range_bytes(), none.local_bytes()), (0, 0, 0));
    }
}
