//! Tables: those that the program prints, their rounds, and the numbers that they make of the times.
//!
//! *Thesis* is the table of the thesis that Charm++'s zero-copy API comes from: one-way times, six ways of sending. *Charm* is what
//! Charm++ prints today (`benchmarks/charm++/zerocopy/p2pPingpong`): its columns in its order, with the defaults of its arguments.
//! Two things differ: the times are whole round trips (Charm++ 8 prints half of each, except in the last four columns), and round trips
//! that are not counted have the size of those that are (Charm++ warms up once, at half the smallest).

use crate::options::Options;
use crate::round::{Mode, Outcome, Way};
use clap::ValueEnum;

/// The most that one player sends in a cell of the thesis' table, so that large buffers do not take minutes.
const CELL_BYTES_MAX: usize = 256 << 20;

/// A median of fewer round trips says little.
const ITERATIONS_MIN: u32 = 5;

/// Round trips that are not counted, as a share of the others: caches, page faults, paths that are set up on first use.
const WARM_UP_SHARE: u32 = 10;

/// From this size on Charm++ counts a buffer as large.
const LARGE_BYTES: usize = 512 << 10;

/// What is measured and how it is told.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Table {
    /// One-way times (half of the median round trip) of six ways of sending
    Thesis,
    /// Every column of Charm++'s zero-copy ping-pong: mean round trips of sixteen ways, and what registration costs
    Charm,
    /// One-way times of two ways between devices
    #[value(skip)]
    Device,
}

/// How often a round goes to and fro.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Iterations {
    pub(crate) warm_up: u32,
    pub(crate) counted: u32,
}

/// The round of a column. The last columns of Charm++'s table have none of their own.
type Round = (&'static str, Way, Mode);

const THESIS: [(&str, Way); 6] = [
    ("regular", Way::Regular),
    ("entry", Way::Entry),
    ("regular+recv", Way::RegularCopy),
    ("entry+recv", Way::Posted),
    ("get", Way::Get),
    ("put", Way::Put),
];

const DEVICE: [(&str, Way); 2] = [("entry", Way::Entry), ("entry+recv", Way::Posted)];

const CHARM: [Round; 16] = [
    ("regular", Way::Regular, Mode::Registered),
    ("entry UNREG", Way::Entry, Mode::Lazy),
    ("entry REG", Way::Entry, Mode::Registered),
    ("entry PREREG", Way::Entry, Mode::Pool),
    ("regular+copy", Way::RegularCopy, Mode::Registered),
    ("entry+copy", Way::EntryCopy, Mode::Registered),
    ("get UNREG", Way::Get, Mode::Lazy),
    ("get REG", Way::Get, Mode::Registered),
    ("get PREREG", Way::Get, Mode::Pool),
    ("get reg/dereg", Way::GetRenewed, Mode::Registered),
    ("post UNREG", Way::Posted, Mode::Lazy),
    ("post REG", Way::Posted, Mode::Registered),
    ("post PREREG", Way::Posted, Mode::Pool),
    ("match UNREG", Way::Matched, Mode::Lazy),
    ("match REG", Way::Matched, Mode::Registered),
    ("match PREREG", Way::Matched, Mode::Pool),
];

/// The cost of registration: each time, both in sum, and both as the difference of two columns.
const CHARM_COSTS: [&str; 4] = ["register", "deregister", "reg+dereg", "reg+dereg 2"];

impl Table {
    /// The names of the columns behind the size.
    pub(crate) fn columns(self) -> Vec<&'static str> {
        match self {
            Self::Thesis => THESIS.iter().map(|(name, _)| *name).collect(),
            Self::Device => DEVICE.iter().map(|(name, _)| *name).collect(),
            Self::Charm => CHARM.iter().map(|(name, ..)| *name).chain(CHARM_COSTS).collect(),
        }
    }

    /// The rounds of a size, in order. `pool`: whether the thesis' buffers are to live in memory that other processes may map.
    pub(crate) fn rounds(self, pool: bool) -> Vec<(Way, Mode)> {
        let mode = if pool { Mode::Pool } else { Mode::Registered };
        match self {
            Self::Thesis => THESIS.iter().map(|(_, way)| (*way, mode)).collect(),
            Self::Device => DEVICE.iter().map(|(_, way)| (*way, mode)).collect(),
            Self::Charm => CHARM.iter().map(|(_, way, mode)| (*way, *mode)).collect(),
        }
    }

    pub(crate) fn iterations(self, options: &Options, size: usize) -> Iterations {
        let counted = match self {
            Self::Thesis | Self::Device => {
                let affordable = u32::try_from(CELL_BYTES_MAX / size).unwrap_or(u32::MAX);
                options.iterations().min(affordable.max(ITERATIONS_MIN))
            }
            Self::Charm if size < LARGE_BYTES => options.iterations(),
            Self::Charm => options.large_iterations(),
        };
        Iterations { warm_up: counted.div_ceil(WARM_UP_SHARE), counted }
    }

    /// The row that the rounds of a size make, in microseconds.
    pub(crate) fn row(self, outcomes: &[Outcome]) -> Vec<f64> {
        match self {
            Self::Thesis | Self::Device => {
                outcomes.iter().map(|outcome| median(&outcome.round_trips_ns) / 2.0 / 1e3).collect()
            }
            Self::Charm => {
                let mut row: Vec<f64> =
                    outcomes.iter().map(|outcome| mean(&outcome.round_trips_ns) / 1e3).collect();
                let column = |way, mode| CHARM.iter().position(|round| (round.1, round.2) == (way, mode));
                let (renewed, registered) = (
                    column(Way::GetRenewed, Mode::Registered).expect("a column of the table"),
                    column(Way::Get, Mode::Registered).expect("a column of the table"),
                );
                let (register, deregister) = (
                    mean(&outcomes[renewed].register_ns) / 1e3,
                    mean(&outcomes[renewed].deregister_ns) / 1e3,
                );
                row.extend([register, deregister, register + deregister, row[renewed] - row[registered]]);
                row
            }
        }
    }

    /// The meaning of the numbers, for the head of the table.
    pub(crate) fn describe(self) -> &'static [&'static str] {
        match self {
            Self::Thesis => &[
                "one-way microseconds: half of the median round trip; a tenth more were played before, to warm up",
                "regular: an ordinary argument; entry: a #[nocopy] one, the sender's own memory where the path leads to it, so that nothing is copied",
                "regular+recv: an ordinary argument that the receiver copies into its buffer; entry+recv: a #[nocopy(post)] one, which lands there",
                "get: a message with a handle, by which the receiver fetches the source (rget); put: the sender writes the receiver's buffer (rput)",
            ],
            Self::Device => &[
                "one-way microseconds: half of the median round trip; a tenth more were played before, to warm up",
                "entry: a #[nocopy] argument that is received; entry+recv: a #[nocopy(post)] one, which lands in a buffer of the receiver's device",
            ],
            Self::Charm => &[
                "microseconds per round trip, mean; a tenth more were played before, to warm up",
                "regular: an ordinary argument; entry: a #[nocopy] one; +copy: the receiver copies it into its buffer",
                "get: a message with a handle, by which the receiver fetches the source (rget); reg/dereg: player 0 registers its source each time",
                "post, match: a #[nocopy(post)] argument, which lands in a buffer that the post method gives, or that matches by tag",
                "register, deregister: what get reg/dereg spends on that; reg+dereg: both; reg+dereg 2: get reg/dereg less get REG",
                "UNREG: heap memory, registered when first needed; REG: heap memory, registered by the call; PREREG: the runtime's pool",
            ],
        }
    }
}

fn median(times_ns: &[u64]) -> f64 {
    let mut sorted = times_ns.to_vec();
    sorted.sort_unstable();
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) {
        (sorted[middle - 1] + sorted[middle]) as f64 / 2.0
    } else {
        sorted[middle] as f64
    }
}

fn mean(times_ns: &[u64]) -> f64 {
    times_ns.iter().sum::<u64>() as f64 / times_ns.len() as f64
}
