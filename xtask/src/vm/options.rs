//! Options of `cargo xtask vm`: which guests, and what for.

use clap::{Args, ValueEnum};

/// Kinds of software devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Rdma {
    /// Soft-RoCE
    Rxe,
    /// Soft-iWARP; its module is compiled the first time
    Siw,
}

impl Rdma {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rxe => "rxe",
            Self::Siw => "siw",
        }
    }
}

/// The guests, and their work.
#[derive(Args, Clone, Debug)]
pub(crate) struct Machine {
    /// Hosts: 1, or 2 that reach each other by `ssh` as vm0, which runs the command, and vm1
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=2))]
    pub(super) hosts: u32,
    /// What its RDMA devices are
    #[arg(long, value_enum, default_value = "rxe")]
    pub(super) rdma: Rdma,
    /// How long it may say nothing, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    pub(super) silence: u64,
    /// A variable for the command
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    pub(super) environment: Vec<String>,
    /// The command; without one, the image is built and nothing is run
    #[arg(trailing_var_arg = true)]
    pub(super) command: Vec<String>,
}
