//! The program of the tests of device buffers between PEs: sends arguments from the host and from devices to parameters of both, by layouts
//! on both sides, between all pairs of PEs that are asked for and to many and as values, and checks each element and what senders are told.
//!
//! ```text
//! cargo run -p chare-tests --bin on_devices -- +n 2 +device software
//! ```
//! With the name of a trouble it runs into it, which must end the job.

mod case;
mod many;
mod peer;
mod registered;
mod trouble;

use case::Case;
use chare::devices::{AdoptedMemory, DeviceChoice, Faults, Software};
use chare::prelude::*;
use chare::{DeviceBuffer, Program};
use chare_examples::start;
use clap::{Parser, ValueEnum};
use many::ToMany;
use peer::PeerProxy;
use registered::Shared;
use std::num::NonZeroU32;
use std::process::ExitCode;
use trouble::Trouble;

/// Sends buffers between devices and hosts.
#[derive(Parser, Clone, Debug)]
#[command(name = "on_devices", no_binary_name = true)]
struct Options {
    /// Run into this trouble instead
    #[arg(value_enum)]
    trouble: Option<Trouble>,
    /// Bytes of pinned memory of each device
    #[arg(long)]
    pinned: Option<u64>,
    /// Networks cannot register the device's memory
    #[arg(long)]
    staged: bool,
    /// Only arguments that go from a device to a device
    #[arg(long)]
    devices_only: bool,
    /// One of how many commands finds its device lost
    #[arg(long)]
    lose: Option<NonZeroU32>,
    /// Send memory that the program has adopted, which was made so that others find it in this way
    #[arg(long, value_enum)]
    adopted: Option<Adopted>,
    /// Have the devices measured first, so that their models choose
    #[arg(long)]
    measure: bool,
}

/// How the memory was made that the program adopts.
#[derive(ValueEnum, Clone, Copy, Debug)]
enum Adopted {
    Descriptors,
    Named,
    Private,
}

impl Options {
    /// The device of each host, if it is a special one.
    fn device(&self) -> Option<DeviceChoice> {
        let usual = Software::default();
        let special = Software {
            pinned_bytes: self.pinned.unwrap_or(usual.pinned_bytes),
            is_registrable: !self.staged && self.adopted.is_none(),
            adopted: match self.adopted {
                Some(Adopted::Named) => AdoptedMemory::Named,
                Some(Adopted::Private) => AdoptedMemory::Private,
                Some(Adopted::Descriptors) | None => AdoptedMemory::Descriptors,
            },
            faults: self.lose.map_or_else(Faults::default, |lose| Faults {
                lose: Some(lose),
                seed: 11,
                ..Faults::default()
            }),
            ..usual.clone()
        };
        (special != usual).then(|| DeviceChoice::Software(vec![special]))
    }
}

/// Cases that are under way at one time: what their ends stage, beside the chunks, fits the pinned memory.
const AT_A_TIME: usize = 4;

/// Elements of device buffers that travel as values: nothing, a few, several pieces.
const VALUES: [u32; 3] = [0, 7, 600_001];

async fn run(options: Options) -> bool {
    let peers = PeerProxy::create();
    if options.measure {
        let measured = (0..chare::pes()).map(|pe| {
            let (told, done) = chare::future::<()>();
            peers.on(PeId(pe)).measure(done);
            told
        });
        chare::wait_all(measured.collect::<Vec<_>>()).await;
    }
    if let Some(trouble) = options.trouble {
        return trouble.run(&peers).await;
    }
    let last = chare::pes() - 1;
    // On two PEs the middle one is the first.
    let mut pairs = vec![(0, last), (last, 0), (last / 2, last)];
    pairs.sort_unstable();
    pairs.dedup();
    let chosen = || Case::all().filter(|case| !options.devices_only || case.is_between_devices());
    let cases: Vec<(u32, u32, Case)> =
        pairs.into_iter().flat_map(|(from, to)| chosen().map(move |case| (from, to, case))).collect();
    let mut wrong = 0;
    for some in cases.chunks(AT_A_TIME) {
        let mut answers = Vec::new();
        for (from, to, case) in some {
            let (answer, done) = chare::future::<String>();
            peers.on(PeId(*from)).send(PeId(*to), *case, done);
            answers.push(answer);
        }
        for ((from, to, case), said) in some.iter().zip(chare::wait_all(answers).await) {
            if !said.is_empty() {
                println!("PE {from} to PE {to}, {case:?}: {said}");
                wrong += 1;
            }
        }
    }
    let shared = Shared::all();
    for some in shared.chunks(AT_A_TIME) {
        let checks = some.iter().map(|shared| shared.check(last));
        for (shared, said) in some.iter().zip(chare::wait_all(checks.collect::<Vec<_>>()).await) {
            if !said.is_empty() {
                println!("{shared:?}: {said}");
                wrong += 1;
            }
        }
    }
    let to_many = if options.devices_only { Vec::new() } else { ToMany::all() };
    let members = many::members();
    for what in &to_many {
        let said = what.check(members.clone(), PeId(last / 2)).await;
        if !said.is_empty() {
            println!("PE {} to many, {what:?}: {said}", last / 2);
            wrong += 1;
        }
    }
    let values: Vec<(u32, u32)> = (0..chare::pes()).flat_map(|pe| VALUES.map(|len| (pe, len))).collect();
    for (pe, len) in &values {
        let elements: Vec<u32> = (0..*len).map(|at| at.wrapping_mul(2_654_435_761)).collect();
        let (back, done) = chare::future::<DeviceBuffer<u32>>();
        peers.on(PeId(*pe)).reflect(peer::on_device(&elements).freeze(), done);
        let said = peer::compare("what came back", &peer::read(&back.await).await, &elements);
        if !said.is_empty() {
            println!("{len} elements as a value, by PE {pe}: {said}");
            wrong += 1;
        }
    }
    let all = cases.len() + shared.len() + to_many.len() + values.len();
    println!("{} of {all} buffers came as they should", all - wrong);
    wrong == 0
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options: Options = start::parse(program.arguments());
    if options.adopted.is_some() {
        peer::adopt_all();
    }
    let program = match options.device() {
        Some(device) => program.device(device),
        None => program,
    };
    program.run(|_arguments| async { chare::exit(i32::from(!run(options).await)) })
}
