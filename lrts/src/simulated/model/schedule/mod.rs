//! Schedules of hosts that compute, send and receive, in LogGOPSim's text format: what [`LogGops`](super::LogGops) says of them is compared
//! with what LogGOPSim has said. For tests alone: in a simulated job the runtime decides who sends what.

mod player;
mod reader;
mod tests;

/// One operation of a host.
#[derive(Clone, Debug)]
struct Operation {
    kind: Kind,
    /// Of the host, which of its processors and interfaces.
    processor: usize,
    interface: usize,
    /// How many operations have to be over, or begun, before this one.
    missing: usize,
    /// Those that wait for this one to be over.
    after_end: Vec<usize>,
    /// Those that wait for this one to begin.
    after_begin: Vec<usize>,
}

/// What an operation does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Send { bytes: usize, target: usize, tag: u32 },
    Receive { bytes: usize, source: Option<usize>, tag: Option<u32> },
    Compute { time_ns: u64 },
}

impl Kind {
    /// The order in which those are planned that may begin at once.
    fn rank(self) -> u8 {
        match self {
            Self::Send { .. } => 0,
            Self::Receive { .. } => 1,
            Self::Compute { .. } => 2,
        }
    }
}

/// The operations of all hosts.
#[derive(Clone, Debug)]
struct Schedule(Vec<Vec<Operation>>);
