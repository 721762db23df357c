//! Seats of PEs: the lines in which the probe tells on which processors each PE may run.

use crate::running::Outcome;

/// A PE and the processors that it may run on.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seat {
    /// The PE.
    pub pe: u32,
    /// Its node.
    pub node: u32,
    /// Its processors.
    pub processors: Vec<usize>,
}

impl Seat {
    /// The seats of a job that ran `probe seats`, in order of PEs.
    ///
    /// # Panics
    /// If it failed, or told of fewer PEs than it has.
    #[track_caller]
    pub fn all(outcome: &Outcome) -> Vec<Self> {
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        let mut seats: Vec<Self> = outcome.stdout.lines().filter_map(Self::parse).collect();
        seats.sort();
        let said = outcome
            .stdout
            .lines()
            .find_map(|line| line.split(" of ").nth(1)?.split(' ').next()?.parse().ok());
        assert_eq!(said, Some(seats.len()), "{outcome:?}");
        seats
    }

    /// Reads `PE 1 of 2 on node 0 may run on [3]`.
    fn parse(line: &str) -> Option<Self> {
        let (pe, rest) = line.strip_prefix("PE ")?.split_once(" of ")?;
        let (node, processors) = rest.split_once(" on node ")?.1.split_once(" may run on [")?;
        let processors = processors.strip_suffix(']')?.split(", ");
        let processors = processors.map(|one| one.parse().ok()).collect::<Option<_>>()?;
        Some(Self { pe: pe.parse().ok()?, node: node.parse().ok()?, processors })
    }
}

/// The processors that this thread may run on.
///
/// # Panics
/// If the kernel does not tell.
pub fn own_processors() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).expect("the kernel tells");
    (0..rustix::thread::CpuSet::MAX_CPU).filter(|processor| set.is_set(*processor)).collect()
}
