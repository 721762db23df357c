//! `cargo xtask device`: what measures devices, gathered in one folder here (`pack`), and run on the machine that has one (`run`).
//!
//! Such a machine needs nothing of this project but the folder, and may be there for minutes only: so what ran to its end is kept, and
//! is not run again.

mod chart;
mod goals;
mod pack;
mod part;
mod parts;
mod rows;
mod run;

use crate::report::Report;
use crate::step::target_directory;
use std::path::PathBuf;

/// What to do with what measures devices.
#[derive(clap::Subcommand)]
pub(crate) enum Device {
    /// Build it in release and gather it, stripped, in target/device
    Pack,
    /// Run what was gathered, part after part, and keep what each says
    Run(run::Options),
}

impl Device {
    pub(crate) fn run(self, report: &mut Report) {
        match self {
            Self::Pack => pack::pack(report),
            Self::Run(options) => run::run(&options, report),
        }
    }
}

/// The programs of the folder: the suite of devices, that of devices between nodes, the tests of devices in chares, the benchmark, and two
/// examples.
const CONFORMANCE: &str = "conformance";
const BETWEEN_NODES: &str = "between_nodes";
const IN_CHARES: &str = "in_chares";
const DEVICES: &str = "devices";
const STENCIL: &str = "stencil2d";
const PING_PONG: &str = "pingpong";

/// Where what was gathered lies: beside this program, if it was gathered, too.
fn folder() -> PathBuf {
    let here = std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned()));
    let gathered = here.filter(|here| here.join(DEVICES).is_file() && here.join(CONFORMANCE).is_file());
    gathered.unwrap_or_else(|| target_directory().join("device"))
}
