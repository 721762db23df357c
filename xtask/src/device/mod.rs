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
