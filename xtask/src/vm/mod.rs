//! `cargo xtask vm`: RDMA devices for machines that have none.
//!
//! A Debian kernel with soft-RoCE and soft-iWARP runs under qemu, alone or as two hosts with a wire between them, and runs a
//! command there, as root, with the workspace at its own path. `image` builds the parts of a guest, `machine` starts it, `job`
//! follows it. Alone, a guest has three devices: rxe0, which loops back, and rxe1 and rxe2 on the two ends of a cable.

mod image;
mod iwarp;
mod job;
mod machine;
pub(crate) mod suite;
mod tool;

use crate::step::{root, target_directory};
use clap::{Args, ValueEnum};
use machine::Guest;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
pub(crate) use tool::Failure;

/// Kinds of software devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Rdma {
    /// Soft-RoCE
    Rxe,
    /// Soft-iWARP; its module is compiled the first time
    Siw,
}

impl Rdma {
    fn name(self) -> &'static str {
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
    hosts: u32,
    /// What its RDMA devices are
    #[arg(long, value_enum, default_value = "rxe")]
    rdma: Rdma,
    /// How long it may take, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    timeout: u64,
    /// A variable for the command
    #[arg(short, long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,
    /// The command; without one, the image is built and nothing is run
    #[arg(trailing_var_arg = true)]
    command: Vec<String>,
}

/// The directory of images: `CHARE_VM_CACHE`, or `vm` beside the builds.
fn cache() -> PathBuf {
    std::env::var_os("CHARE_VM_CACHE").map_or_else(|| target_directory().join("vm"), PathBuf::from)
}

/// Runs guests as asked. Returns the exit status of the command.
///
/// # Errors
/// Why there is no guest.
pub(crate) fn run(machine: &Machine) -> Result<i32, Failure> {
    let image = image::prepare(&cache(), machine.rdma == Rdma::Siw)?;
    if machine.command.is_empty() {
        return Ok(0);
    }
    let group = std::env::temp_dir().join(format!("chare-vm-{}", std::process::id()));
    let (target, root) = (target_directory(), root());
    let shares: Vec<&Path> = match target.starts_with(root) {
        true => vec![root],
        false => vec![root, &target],
    };
    let guests = (0..machine.hosts).map(|rank| Guest::start(&image, machine, rank, &group, &shares));
    let mut guests = guests.collect::<Result<Vec<_>, _>>()?;
    let status = job::follow(&mut guests, Duration::from_secs(machine.timeout))?;
    drop(guests);
    std::fs::remove_dir_all(&group)?;
    Ok(status)
}

/// The command of its own.
pub(crate) fn run_alone(machine: &Machine) -> ExitCode {
    match run(machine) {
        Ok(status) => ExitCode::from(u8::try_from(status).unwrap_or(1)),
        Err(Failure(why)) => {
            eprintln!("no guest: {why}");
            ExitCode::from(125)
        }
    }
}
