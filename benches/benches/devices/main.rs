//! Devices: what it costs on a device to pack, to unpack, to stage, and to go from buffer to buffer in chunks, beside the device's own
//! copies of as many bytes.
//!
//! | part | sides | ceiling, of the same run |
//! |---|---|---|
//! | `probe` | says what the device is, and whether another process's memory can be mapped | |
//! | `handover` | a step alone, after one of another process, and while that one is busy | a step alone |
//! | `pack`, `unpack`, `step` | one step by a plan, within the device; a two-dimensional copy | a copy that moves as many sectors of 32 bytes, within the device |
//! | `stage`, `unstage` | each method by which blocks get to pinned memory and back: one step, packed and copied, a copy of rows, a copy for each block; what the measured model chooses; two-dimensional copies, straight and by way of the device | a copy of as many bytes that lie side by side |
//! | `pipeline` | blocks to other blocks by way of the host: in chunks that overlap; whole; and by ways that wait for each stage | as many bytes that lie side by side, one way |
//! | `halo` | the 26 faces, edges and corners of a field with ghost layers: by one launch, by one for each, by a copy for each block | a copy of as many bytes, within the device |
//! | `overlap` | a product of matrices while copies, or steps, go both ways | the product alone |
//!
//! Every second block of so many bytes is selected. The pipeline's 4 MB of blocks of 4 bytes are the vector program of MV2-GPU-NC, whose
//! blocking baselines (`blocking`) are sides of it: a two-dimensional copy, on the device or off it, then a send. In the place of the network
//! the host copies from one pinned memory to another. Its Stencil2D is `examples/stencil2d`, which `--compare` measures beside exchanges
//! by hand.
//!
//! It is one process, as a device is: sides of several would take turns on it, which `handover` measures. What is computed or packed
//! is checked (`halo`, `overlap`, `probe`), on every kind of device. One device shows nothing of NVLink, of GPUDirect, of transfers between
//! devices, nor of an MPI that knows devices.
//!
//! `cargo bench -p chare-benches --features cuda --bench devices -- --device cuda --json "$PWD/devices.json" pack unpack`

mod bed;
mod blocking;
mod filled;
mod grid;
mod halo;
mod handover;
mod overlap;
mod peer;
mod pipeline;
mod probe;
mod product;
mod row;
mod staging;
mod within;

use bed::{Bed, Fallible, Kind};
use chare_device::DeviceError;
use clap::{Parser, ValueEnum};
use row::Table;
use std::path::PathBuf;
use std::process::ExitCode;
use within::Within;

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
    /// Be the other process of a measurement, which starts this
    #[arg(long, hide = true)]
    peer: bool,
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
    Handover,
    Pack,
    Unpack,
    Step,
    Stage,
    Unstage,
    Pipeline,
    Halo,
    Overlap,
}

impl Part {
    fn measure(self, bed: &Bed, table: &mut Table) -> Fallible {
        match self {
            Self::Probe => probe::describe(bed),
            Self::Handover => handover::measure(bed, table),
            Self::Pack => Within::Pack.measure(bed, table),
            Self::Unpack => Within::Unpack.measure(bed, table),
            Self::Step => Within::Step.measure(bed, table),
            Self::Stage => staging::stage(bed, table),
            Self::Unstage => staging::unstage(bed, table),
            Self::Pipeline => pipeline::measure(bed, table),
            Self::Halo => halo::measure(bed, table),
            Self::Overlap => overlap::measure(bed, table),
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
    if arguments.peer {
        return peer::play(bed);
    }
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
