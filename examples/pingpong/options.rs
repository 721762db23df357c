//! Command line, and the paths between the players.

use crate::round::Way;
use crate::tables::Table;
use chare::ReachOptions;
use chare_examples::start;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use std::path::PathBuf;

/// Nobody has memory for four buffers of more.
const SIZE_MAX: usize = 4 << 30;

/// Plays ping-pong with buffers and prints how long they take, in microseconds. Without --path and +n it runs itself once per path.
#[derive(Parser, Clone, Debug)]
#[command(name = "pingpong", no_binary_name = true, args_override_self = true)]
pub(crate) struct Options {
    /// What is measured and how it is told
    #[arg(long, value_enum, default_value_t = Table::Thesis)]
    table: Table,
    /// Where the buffers are; those on devices have a table of their own
    #[arg(long, value_enum, default_value_t = Memory::Host)]
    pub(crate) memory: Memory,
    /// The path between the players; without it, what the `+options` lead to
    #[arg(long, value_enum)]
    pub(crate) path: Option<Path>,
    /// The smallest buffer in bytes, such as 2KiB [default: 2KiB; footprint: 1MiB; charm: 32]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    min: Option<usize>,
    /// The largest buffer in bytes; sizes double up to it [default: 64MiB; charm: 32MiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    max: Option<usize>,
    /// Round trips of small buffers [default: 400, large ones make fewer; footprint: 20; charm: 1000, below 512KiB]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    iterations: Option<u32>,
    /// Round trips from 512KiB on, charm only [default: 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    large_iterations: Option<u32>,
    /// Write another pattern for each transfer and check every byte that arrives; the times include that
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print comma-separated values instead of a table
    #[arg(long)]
    pub(crate) csv: bool,
    /// Print how much memory each of the thesis' ways takes, in the place of times
    #[arg(long, conflicts_with_all = ["table", "memory", "verify", "plot"])]
    pub(crate) footprint: bool,
    /// Play this way alone, and print the bytes of memory that it took
    #[arg(long, hide = true)]
    pub(crate) weigh: Option<Way>,
    /// Draw the times as an SVG with logarithmic axes
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

impl Options {
    /// Parses the program's own arguments; answers `--help` and mistakes on the terminal, and ends the process then.
    pub(crate) fn from_arguments(arguments: &[String]) -> Self {
        let options: Self = start::parse(arguments);
        if options.min() > options.max() {
            let message = format!("--min {} is more than --max {} bytes", options.min(), options.max());
            Self::command().error(ErrorKind::ValueValidation, message).exit();
        }
        if options.large_iterations.is_some() && options.table() != Table::Charm {
            let message =
                "--large-iterations is for --table charm; the other tables limit large buffers by themselves";
            Self::command().error(ErrorKind::ArgumentConflict, message).exit();
        }
        options
    }

    /// What is measured and how it is told.
    pub(crate) fn table(&self) -> Table {
        match self.memory {
            Memory::Host => self.table,
            Memory::Device => Table::Device,
        }
    }

    fn min(&self) -> usize {
        self.min.unwrap_or(match self.table() {
            _ if self.footprint => 1 << 20,
            Table::Thesis | Table::Device => 2 << 10,
            Table::Charm => 32,
        })
    }

    fn max(&self) -> usize {
        self.max.unwrap_or(match self.table() {
            Table::Thesis => 64 << 20,
            Table::Device => 16 << 20,
            Table::Charm => 32 << 20,
        })
    }

    /// Round trips that count, of small buffers.
    pub(crate) fn iterations(&self) -> u32 {
        self.iterations.unwrap_or(match self.table() {
            _ if self.footprint => 20,
            Table::Thesis | Table::Device => 400,
            Table::Charm => 1000,
        })
    }

    /// Round trips that count, of large buffers, where the table leaves that to the caller.
    pub(crate) fn large_iterations(&self) -> u32 {
        self.large_iterations.unwrap_or(100)
    }

    /// All buffer sizes, smallest first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        let max = self.max();
        std::iter::successors(Some(self.min()), |size| size.checked_mul(2))
            .take_while(|size| *size <= max)
            .collect()
    }
}

/// `65536`, `64K`, `64KiB`, `2M`, ...
fn parse_size(text: &str) -> Result<usize, String> {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let number: usize =
        digits.parse().map_err(|_| "a size is a number and perhaps a unit, such as 64KiB".to_owned())?;
    let shift = match &text[digits.len()..].to_ascii_lowercase()[..] {
        "" | "b" => 0,
        "k" | "kib" => 10,
        "m" | "mib" => 20,
        "g" | "gib" => 30,
        unit => return Err(format!("`{unit}` is no unit; use KiB, MiB or GiB")),
    };
    match number.checked_mul(1 << shift) {
        Some(size) if (1..=SIZE_MAX).contains(&size) => Ok(size),
        _ => Err(format!("a size is between 1 and {SIZE_MAX} bytes")),
    }
}

/// Where buffers are.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Memory {
    /// On the host
    Host,
    /// On the devices of the players' PEs, as `+device` says
    Device,
}

/// How buffers get from player to player.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Path {
    /// Within one process
    Memcpy,
    /// Messages and buffers in memory that two processes share
    Shm,
    /// Messages in shared memory, buffers copied by the kernel from heap to heap
    Cma,
    /// Messages over TCP, which carry the buffers too
    Tcp,
    /// Messages by the nearest path, which carry the buffers too
    Emulated,
    /// Messages and buffers by libfabric; `+ofi` names its provider. Played only when asked for
    Ofi,
    /// Messages and buffers by RDMA devices; `+verbs` names them. Played only when asked for
    Verbs,
    /// Messages and buffers by MPI, under its launcher: `mpirun -n 2`. Played only when asked for
    Mpi,
}

impl Path {
    /// As the user types it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memcpy => "memcpy",
            Self::Shm => "shm",
            Self::Cma => "cma",
            Self::Tcp => "tcp",
            Self::Emulated => "emulated",
            Self::Ofi => "ofi",
            Self::Verbs => "verbs",
            Self::Mpi => "mpi",
        }
    }

    /// The environment twin and its value for a job of two PEs with this path between them.
    pub(crate) fn layout(self) -> (&'static str, &'static str) {
        match self {
            Self::Memcpy => ("CHARE_P", "2"),
            _ => ("CHARE_N", "2"),
        }
    }

    /// Whether it needs nothing but this program: all of these are played when none is named.
    pub(crate) fn is_embedded(self) -> bool {
        !matches!(self, Self::Ofi | Self::Verbs | Self::Mpi)
    }

    /// Whether this path can lie between the players.
    ///
    /// # Errors
    /// What to do, in words.
    pub(crate) fn check_layout(self, nodes: u32) -> Result<(), String> {
        match (self, nodes) {
            (Self::Memcpy, 1) => Ok(()),
            (Self::Memcpy, _) => {
                Err(format!("--path memcpy lies within one process, not between {nodes}; leave +n away"))
            }
            (Self::Mpi, _) => {
                Err("--path mpi lies between processes of MPI's launcher; start with `mpirun -n 2`"
                    .to_owned())
            }
            (_, 1) => Err(format!("--path {} lies between two processes; add +n 2", self.name())),
            _ => Ok(()),
        }
    }

    /// What the runtime is told.
    pub(crate) fn network(self) -> ReachOptions {
        let lrts = Some(self.name().to_owned());
        match self {
            // Without CMA a buffer that is not mapped shows as an emulated transfer, instead of passing for a mapped one.
            Self::Shm => ReachOptions { lrts, nocma: true, ..ReachOptions::default() },
            Self::Tcp => ReachOptions { lrts, nolocal: true, ..ReachOptions::default() },
            _ => ReachOptions { lrts, ..ReachOptions::default() },
        }
    }

    /// Whether the thesis' buffers are to live in memory that other processes may map, or on the heap.
    pub(crate) fn wants_pool(self) -> bool {
        self == Self::Shm
    }
}
