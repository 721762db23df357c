//! Devices: what it costs on a device to pack, to unpack, to stage, and to go from buffer to buffer in chunks, beside the device's own
//! copies of as many bytes.
//!
//! | part | sides | ceiling, of the same run |
//! |---|---|---|
//! | `probe` | says what the device is | |
//! | `pack`, `unpack` | one step by a plan, within the device; a two-dimensional copy | a copy of as many bytes, within the device |
//! | `stage`, `unstage` | each method by which blocks get to pinned memory and back: one step, packed and copied, a copy of rows, a copy for each block; what the measured model chooses; two-dimensional copies, straight and by way of the device | a copy of as many bytes that lie side by side |
//! | `pipeline` | blocks to other blocks by way of the host: in chunks that overlap; whole; and by ways that wait for each stage | as many bytes that lie side by side, one way |
//!
//! Every second block of so many bytes is selected. The pipeline's 4 MB of blocks of 4 bytes are the vector program of MV2-GPU-NC, whose
//! blocking baselines (`blocking`) are sides of it: a two-dimensional copy, on the device or off it, then a send. In the place of the network
//! the host copies from one pinned memory to another.
//!
//! It is one process, as a device is: sides of several would take turns on it.
//!
//! `cargo bench -p chare-benches --features cuda --bench devices -- --device cuda --json "$PWD/devices.json" pack unpack`

mod bed;
mod blocking;
mod grid;
mod pipeline;
mod row;
mod staging;
mod within;

use bed::{Bed, Fallible, Kind};
use chare_device::DeviceError;
use clap::{Parser, ValueEnum};
use row::Table;
use std::path::PathBuf;
use std::process::ExitCode;

/// Devices beside their own copies.
#[derive(Parser)]
struct Arguments {
    /// On which kind of device
    #[arg(long, value_enum, default_value_t)]
    device: Kind,
    /// Few lengths and samples
    #[arg(long)]
    quick: bool,
    /// Keep the figures in this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// What to measure; all without a name
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

/// What is measured.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Probe,
    Pack,
    Unpack,
    Stage,
    Unstage,
    Pipeline,
}

impl Part {
    fn measure(self, bed: &Bed, table: &mut Table) -> Fallible {
        match self {
            Self::Probe => bed.describe(),
            Self::Pack => within::pack(bed, table),
            Self::Unpack => within::unpack(bed, table),
            Self::Stage => staging::stage(bed, table),
            Self::Unstage => staging::unstage(bed, table),
            Self::Pipeline => pipeline::measure(bed, table),
        }
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let bed = match Bed::new(arguments.device, arguments.quick) {
        Ok(bed) => bed,
        Err(why @ DeviceError::NoDevice { .. }) => {
            println!("skipped: {why}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    match run(&bed, &arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(bed: &Bed, arguments: &Arguments) -> Fallible {
    let mut table = Table::new(bed);
    let parts = match &arguments.parts[..] {
        [] => Part::value_variants(),
        some => some,
    };
    parts.iter().try_for_each(|part| part.measure(bed, &mut table))?;
    match &arguments.json {
        Some(file) => table.keep(file),
        None => Ok(()),
    }
}
