//! How long does what real applications select of their arrays take, in place and packed by hand? Two chares play ping-pong with the
//! kernels of DDTBench: halos of a weather model, atoms from lists, faces of grids, a transposition.
//!
//! ```text
//! cargo run --release --example ddtbench -- +n 2 --verify
//! cargo run --release --example ddtbench -- +p 2 --kernel NAS_MG_x --kernel FFT2 --repeats 1000
//! cargo run --release --example ddtbench -- +n 2 --csv ddtbench.csv --plot ddtbench.svg
//! cargo run --release --example ddtbench -- +n 2 --memory device --kernel MILC_su3_zd +device software
//! cargo run --release --example ddtbench -- +n 2 --memory device --size objects --verify
//! ```
//! By `layout`, all arrays of a kernel are one argument, each with what is selected of it, and land where the receiver's layouts say: no
//! loop packs, and where memory is reached nothing is packed. By `manual`, loops pack into a buffer, which is a contiguous argument, and
//! unpack at the receiver, from the sender's memory where that is reached. Both ways are measured from the call until the data is in the
//! receiver's arrays, half of a round trip. With `--verify` receivers compare all of their arrays, what was selected and what must not be
//! touched, in round trips before those that are timed, and after them.
//!
//! `--size paper` has larger classes, of which those are left out whose arrays this host has no room for (`NAS_MG` E: 69 GB).
//! `--size objects` has rows in two dimensions, by the length of a row, in the place of kernels.
//!
//! | file | job |
//! |---|---|
//! | `rally` | what is played, and how far |
//! | `player` | the two chares, and the ways of sending |
//! | `device_player` | the same for arrays on devices |
//! | `verified` | what must have landed |
//! | `report`, `plot` | table, CSV, SVG |
//! | `breakdown` | the steps of a message, with `--breakdown` |
//!
//! The kernels stand in `chare_examples::ddtbench`.

mod breakdown;
mod device_player;
mod player;
mod plot;
mod rally;
mod report;
mod verified;

use chare::Program;
use chare_examples::ddtbench::{Kernel, Precision, Sizes};
use chare_examples::{memory, start};
use clap::builder::PossibleValuesParser;
use clap::{Parser, ValueEnum};
use device_player::DevicePlayers;
use player::HostPlayers;
use rally::{KERNELS, Plan, Players, conduct};
use report::{Report, Row};
use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

/// Bytes that one way of one kernel moves at most, so that the largest kernels end in time.
const BYTES_MAX: usize = 256 << 20;

/// Sends DDTBench's kernels to and fro, in place and packed by hand, and prints one-way times in microseconds.
#[derive(Parser, Clone, Debug)]
#[command(name = "ddtbench", no_binary_name = true)]
struct Options {
    /// In which sizes
    #[arg(long, value_enum, default_value_t = Sizes::Published)]
    size: Sizes,
    /// Only this kernel, in all these sizes; may be given several times
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(names()))]
    kernel: Vec<String>,
    /// Round trips of each way; large kernels make fewer
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    repeats: u32,
    /// Where arrays lie
    #[arg(long, value_enum, default_value_t = Memory::Host)]
    memory: Memory,
    /// Compare every element of all arrays, before and after what is timed
    #[arg(long)]
    verify: bool,
    /// Print what the steps of a message by layouts take, in the place of packing by hand; only of kernels of one array on hosts
    #[arg(long, conflicts_with_all = ["memory", "csv", "plot", "verify"])]
    breakdown: bool,
    /// Write the table as comma-separated values
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Draw how much longer packing by hand takes as an SVG
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    /// In the memory of hosts
    Host,
    /// On the devices of the players' PEs; on software devices without `+device`
    Device,
}

fn names() -> Vec<&'static str> {
    let mut names: Vec<_> = KERNELS.iter().map(|(_, kernel)| kernel.name).collect();
    names.sort_unstable();
    names.dedup();
    names
}

impl Options {
    /// The kernels that are asked for and have room here. Asked once, while no player has any array.
    fn asked_for(&self) -> Vec<(&'static Kernel, Plan)> {
        let is_asked_for = |(_, (sizes, kernel)): &(usize, &(Sizes, Kernel))| {
            *sizes == self.size
                && (self.kernel.is_empty() || self.kernel.iter().any(|name| *name == kernel.name))
        };
        let has_room = |(number, (_, kernel)): (usize, &'static (Sizes, Kernel))| {
            let too_large = self.too_large(kernel);
            too_large.iter().for_each(|why| println!("skipped: {kernel:?}: {why}"));
            too_large.is_none().then(|| (kernel, self.plan(number, kernel)))
        };
        KERNELS.iter().enumerate().filter(is_asked_for).filter_map(has_room).collect()
    }

    /// Why a kernel is left out, if there is no room for it: both players have their arrays, and as much again while they make them or
    /// compare; on a device, where they may be on one, these arrays and what is packed of them.
    fn too_large(&self, kernel: &Kernel) -> Option<String> {
        let on_device = || (3 * kernel.array_bytes(), device_player::memory_bytes(), "the device has");
        let on_host = (4 * kernel.array_bytes(), memory::available(), "this host can spare");
        let rooms = (self.memory == Memory::Device).then(on_device);
        let lacks = |(needed, available, _): &(u64, u64, &str)| needed > available;
        let (needed, available, whose) = rooms.into_iter().chain([on_host]).find(lacks)?;
        let [needs, has] = [needed, available].map(|bytes| bytes as f64 / 1e9);
        Some(format!("it needs {needs:.1} GB, and {whose} {has:.1} GB"))
    }

    fn plan(&self, number: usize, kernel: &Kernel) -> Plan {
        let most = 1 + BYTES_MAX / kernel.bytes() / 2;
        let repeats = self.repeats.min(u32::try_from(most).unwrap_or(u32::MAX));
        Plan { kernel: number, repeats, verify: self.verify }
    }
}

async fn measure(options: &Options) -> Result<(), Box<dyn Error>> {
    match options.memory {
        _ if options.breakdown => break_down(options).await,
        Memory::Host => measure_by(options, HostPlayers::<f32>::create(), HostPlayers::<f64>::create()).await,
        Memory::Device => {
            measure_by(options, DevicePlayers::<f32>::create(), DevicePlayers::<f64>::create()).await
        }
    }
}

/// Prints the steps of kernels of one array.
async fn break_down(options: &Options) -> Result<(), Box<dyn Error>> {
    let (singles, doubles) = (HostPlayers::<f32>::create(), HostPlayers::<f64>::create());
    breakdown::write_head()?;
    let mut kernels = options.asked_for();
    kernels.retain(|(kernel, _)| kernel.arrays.len() == 1);
    if kernels.is_empty() {
        println!("no kernel of one array was asked for: see which have these sizes, by `--size` alone");
    }
    for (kernel, plan) in kernels {
        let steps = match kernel.precision {
            Precision::Single => breakdown::steps::<f32>(&singles, kernel, plan).await,
            Precision::Double => breakdown::steps::<f64>(&doubles, kernel, plan).await,
        };
        breakdown::write_row(kernel, steps)?;
    }
    Ok(())
}

async fn measure_by(
    options: &Options,
    singles: impl Players,
    doubles: impl Players,
) -> Result<(), Box<dyn Error>> {
    let mut report = Report::begin()?;
    for (kernel, plan) in options.asked_for() {
        let times_us = match kernel.precision {
            Precision::Single => conduct(&singles, plan).await,
            Precision::Double => conduct(&doubles, plan).await,
        };
        report.row(Row { kernel, times_us })?;
    }
    report.end(options.verify)?;
    let rows = report.rows();
    let cannot = |file: &PathBuf, error: &dyn Error| format!("cannot write {}: {error}", file.display());
    if let Some(file) = &options.csv {
        report::write_csv(file, rows).map_err(|error| cannot(file, &error))?;
    }
    if let Some(file) = &options.plot {
        plot::write(file, rows).map_err(|error| cannot(file, &*error))?;
    }
    Ok(())
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options: Options = start::parse(program.arguments());
    let program = if options.memory == Memory::Device { start::with_devices(program) } else { program };
    program.run(|_arguments| async move {
        let measured = measure(&options).await;
        if let Err(error) = &measured {
            eprintln!("{error}");
        }
        chare::exit(i32::from(measured.is_err()));
    })
}
