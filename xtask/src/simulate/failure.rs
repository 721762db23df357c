//! Failures of simulated programs: which program, in which job, and what it said, as test binaries tell.

use std::fmt;

/// A program that failed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    pub(super) binary: String,
    pub(super) test: String,
    /// The job, if the output tells which: a process that was ended tells nothing.
    pub(super) job: Option<Job>,
    pub(super) said: String,
}

/// A simulated job.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Job {
    pub(super) nodes: u32,
    pub(super) pes: u32,
    pub(super) seed: u64,
    /// How many messages had been sent when it failed.
    pub(super) messages: u64,
}

impl Failure {
    /// Reads all failures from what the tests of a binary told of their jobs, as `failed TEST 2x2 17 40: what was said`.
    pub(super) fn told(binary: &str, lines: &str) -> Vec<Self> {
        let told = lines.lines().filter_map(|line| line.strip_prefix("failed ")?.split_once(' '));
        let read = |(test, rest): (&str, &str)| {
            let (job, said) = match Job::read(rest) {
                Some((job, said)) => (Some(job), said.chars().take(300).collect()),
                None => (None, format!("it tells of its job what nobody reads: {rest}")),
            };
            Self { binary: binary.to_owned(), test: test.to_owned(), job, said }
        };
        told.map(read).collect()
    }

    /// The tests that libtest says failed, and that are not among those told of: they failed in no simulated job.
    pub(super) fn others(binary: &str, output: &str, told: &[Self]) -> Vec<Self> {
        let failed =
            output.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let others = failed.filter(|test| told.iter().all(|failure| failure.test != *test));
        let other = |test: &str| {
            let said = "it failed in no simulated job".to_owned();
            Self { binary: binary.to_owned(), test: test.to_owned(), job: None, said }
        };
        others.map(other).collect()
    }

    /// What it said without what hangs from the job: to tell whether another job fails for the same reason.
    pub(super) fn kind(&self) -> String {
        self.said.chars().filter(|letter| !letter.is_ascii_digit()).take(40).collect()
    }
}

impl Job {
    /// Reads `2x2 17 40: what was said`: the shape, the seed, the messages; and returns the rest of the line.
    fn read(line: &str) -> Option<(Self, &str)> {
        let (job, said) = line.split_once(": ")?;
        let mut fields = job.split(' ');
        let (nodes, pes) = fields.next()?.split_once('x')?;
        let (nodes, pes) = (nodes.parse().ok()?, pes.parse().ok()?);
        let (seed, messages) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        Some((Self { nodes, pes, seed, messages }, said.trim()))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.binary, self.test)?;
        if let Some(Job { nodes, pes, seed, .. }) = &self.job {
            write!(out, ", {nodes}x{pes}, seed {seed}")?;
        }
        write!(out, ": {}", self.said)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_read_from_what_tests_tell() {
        let lines = "\
3 a mark
test 12 calls
failed calls 4x2 17 40: the job stands still: 2 wait
";
        let told = Failure::told("moving", lines);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].job, Some(Job { nodes: 4, pes: 2, seed: 17, messages: 40 }));
        assert_eq!((told[0].test.as_str(), told[0].said.as_str()), ("calls", "the job stands still: 2 wait"));
        let output = "test calls ... FAILED\ntest other ... FAILED\ntest third ... ok\n";
        let others = Failure::others("moving", output, &told);
        assert_eq!((others.len(), others[0].test.as_str(), &others[0].job), (1, "other", &None));
        let unread = Failure::told("moving", "failed calls by seed 17: 2 wait\n");
        assert_eq!((unread[0].job.as_ref(), unread[0].said.contains("by seed 17")), (None, true));
        let again = Failure { said: "the job stands still: 13 wait".to_owned(), ..told[0].clone() };
        assert_eq!(told[0].kind(), again.kind());
    }
}
