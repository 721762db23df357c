//! The project's commands: `cargo xtask test`, `bench`, `book`, `setup`, `mpis`, `sanitize`, `chaos`, `device`, `fit`, `floors`, `fuzz`, `instructions`, `kernels`,
//! `plots`, `predict`, `simulate`, `soak`, `vm`, `aarch64`.
//!
//! Each command is a list of steps (`step`); a step is one program with its arguments. All steps run, whatever became of
//! those before them; the end is a table (`report`) and an exit code.

mod aarch64;
mod bench;
mod book;
mod chaos;
#[cfg(test)]
mod chapters;
mod dependencies;
mod device;
mod family;
mod floors;
mod fuzz;
mod instructions;
mod kernels;
mod mpis;
mod plots;
mod prediction;
mod report;
mod sanitize;
mod setup;
mod simulate;
mod soak;
mod step;
mod suite;
mod vm;

use clap::{Parser, Subcommand};
use report::Report;
use std::process::ExitCode;

/// The project's commands.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check everything: format, lints, documentation, examples, tests, models
    Test {
        /// Leave out the documentation, the book and the counts of instructions
        #[arg(long)]
        quick: bool,
    },
    /// Measure, in release; results are printed and kept in target/bench
    Bench {
        /// Benchmarks to run; all without a name
        names: Vec<String>,
    },
    /// Build the book: target/book/index.html
    Book,
    /// Install what `test` needs and this machine lacks
    Setup,
    /// Install newer MPIs than the system's, for benchmarks to run beside
    Mpis,
    /// Run the suites under a sanitizer
    Sanitize {
        /// Which one
        sanitizer: sanitize::Sanitizer,
        /// Which suites; all without a name
        #[arg(value_parser = sanitize::STEPS.map(|(name, ..)| name))]
        steps: Vec<String>,
    },
    /// Break many jobs, each at a random message, and check how each ends
    Chaos(chaos::Options),
    /// Gather what measures devices, and run it where one is
    #[command(subcommand)]
    Device(device::Device),
    /// Measure the numbers of a model of this machine: target/model.txt
    Fit,
    /// Check that modules import only downwards, in the order of each crate's FLOORS
    Floors(floors::Options),
    /// Search for input that breaks what reads from peers and strangers
    Fuzz(fuzz::Options),
    /// Count the instructions of single ways, and compare them with benches/instructions/table.csv
    Instructions(instructions::Options),
    /// Compile the kernels of devices to the PTX that is checked in
    Kernels(kernels::Options),
    /// Draw the tables of benches/README.md: benches/plots
    Plots,
    /// Predict programs by that model, and compare with what is measured
    Predict,
    /// Run the runtime's tests in simulated jobs, by many seeds
    Simulate(simulate::Options),
    /// Run a command in a guest that has RDMA devices
    Vm(vm::Machine),
    /// Forge a million handles, flood nodes with ten million messages and move a million buffers on each path
    Soak,
    /// Run the tests of the crates for aarch64, under emulation
    Aarch64,
}

fn install(report: &mut Report) {
    let _ = setup::prepare(report);
    let _ = book::find_mdbook(report);
}

fn main() -> ExitCode {
    let mut report = Report::default();
    match Arguments::parse().command {
        Command::Vm(machine) => return vm::run_alone(&machine),
        Command::Plots => return plots::run_alone(),
        Command::Floors(options) => return floors::run_alone(&options),
        Command::Test { quick } => suite::run(quick, &mut report),
        Command::Bench { names } => bench::run(&names, &mut report),
        Command::Book => book::run(&mut report),
        Command::Setup => install(&mut report),
        Command::Mpis => mpis::run(&mut report),
        Command::Chaos(options) => chaos::run(options, &mut report),
        Command::Device(what) => what.run(&mut report),
        Command::Fit => prediction::fit(&mut report),
        Command::Predict => prediction::predict(&mut report),
        Command::Fuzz(options) => fuzz::run(options, &mut report),
        Command::Instructions(options) => instructions::run(&options, &mut report),
        Command::Kernels(options) => kernels::run(&options, &mut report),
        Command::Simulate(options) => simulate::run(options, &mut report),
        Command::Soak => soak::run(&mut report),
        Command::Aarch64 => aarch64::run(&mut report),
        Command::Sanitize { sanitizer, steps } => sanitize::run(sanitizer, &steps, &mut report),
    }
    report.print();
    report.exit_code()
}
