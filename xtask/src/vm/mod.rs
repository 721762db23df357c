//! `cargo xtask vm`: RDMA devices for machines that have none.
//!
//! A Debian kernel with soft-RoCE and soft-iWARP runs under qemu, alone or as two hosts with a wire between them, and runs a
//! command there, as root, with the workspace at its own path. `image` builds the parts of a guest, `machine` starts it, `job`
//! follows it. Alone, a guest has three devices: rxe0, which loops back, and rxe1 and rxe2 on the two ends of a cable.

mod image;
mod iwarp;
mod job;
mod machine;
mod options;
mod script;
pub(crate) mod suite;
mod tool;

use crate::step::{root, target_directory};
use machine::Guest;
pub(crate) use options::{Machine, Rdma};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
pub(crate) use tool::Failure;

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
    let status = job::follow(&mut guests, Duration::from_secs(machine.silence))?;
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
