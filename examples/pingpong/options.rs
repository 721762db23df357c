//! The command line, and which paths between the players there are.

use chare::ReachOptions;
use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, ValueEnum};
use std::path::PathBuf;

/// Nobody has memory for four buffers of more.
const SIZE_MAX: usize = 4 << 30;

/// Plays ping-pong with buffers and prints one-way times in microseconds.
#[derive(Parser, Clone, Debug)]
#[command(name = "pingpong", no_binary_name = true)]
#[command(after_help = "Without --path and +n the program runs itself once per path.")]
pub(crate) struct Options {
    /// The path between the players; without it, what the `+options` lead to
    #[arg(long, value_enum)]
    pub(crate) path: Option<Path>,
    /// The smallest buffer in bytes, such as 2KiB
    #[arg(long, value_name = "SIZE", default_value = "2KiB", value_parser = parse_size)]
    pub(crate) min: usize,
    /// The largest buffer in bytes, such as 64MiB; sizes double up to it
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = parse_size)]
    pub(crate) max: usize,
    /// Round trips of small buffers; large ones make fewer
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) iterations: u32,
    /// Write another pattern for each transfer and check every byte that arrives; the times include that
    #[arg(long)]
    pub(crate) verify: bool,
    /// Print comma-separated values instead of a table
    #[arg(long)]
    pub(crate) csv: bool,
    /// Draw the times as an SVG with logarithmic axes
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

impl Options {
    /// Parses the program's own arguments; answers `--help` and mistakes on the terminal, and ends the process then.
    pub(crate) fn from_arguments(arguments: &[String]) -> Self {
        let options = Self::parse_from(arguments);
        if options.min > options.max {
            let message = format!("--min {} is more than --max {} bytes", options.min, options.max);
            Self::command().error(ErrorKind::ValueValidation, message).exit();
        }
        options
    }

    /// All buffer sizes, smallest first.
    pub(crate) fn sizes(&self) -> Vec<usize> {
        std::iter::successors(Some(self.min), |size| size.checked_mul(2))
            .take_while(|size| *size <= self.max)
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
        }
    }

    /// The `+options` for a job of two PEs with this path between them.
    pub(crate) fn layout(self) -> [&'static str; 2] {
        match self {
            Self::Memcpy => ["+p", "2"],
            Self::Shm | Self::Cma | Self::Tcp | Self::Emulated => ["+n", "2"],
        }
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
            Self::Memcpy | Self::Cma | Self::Emulated => ReachOptions { lrts, ..ReachOptions::default() },
        }
    }

    /// Whether the players' buffers are to live in memory that other processes may map, or on the heap.
    pub(crate) fn wants_shareable_buffers(self) -> bool {
        self == Self::Shm
    }
}
