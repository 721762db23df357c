//! How long does a field in three dimensions take to exchange its halo with all 26 neighbours, on hosts and on devices? The halo of TEMPI's
//! Fig. 12: faces, edges and corners, two points deep, of a field that continues at its opposite sides.
//!
//! By layouts, a block sends each neighbour what that one needs of its field, where it lies: no loop packs. By hand, loops pack each
//! piece into a vector, an ordinary argument, and unpack it; of a field on a device each piece is copied to the host first, and to the
//! neighbour's device after. The first and the last exchange of each way are not timed: ghosts are cleared before, and every point is compared
//! after.
//!
//! ```text
//! cargo run --release --example halo -- +n 2
//! cargo run --release --example halo -- --side 128 --blocks 2 2 1 +p 2
//! cargo run --release --example halo -- --memory device +n 2 +device software
//! ```
//! Without `+device` fields on devices lie on a software device.
//!
//! | file | job |
//! |---|---|
//! | `problem` | blocks, their neighbours, and what each has to have of the others |
//! | `on_hosts`, `on_devices` | a block, and both ways to exchange |

mod on_devices;
mod on_hosts;
mod problem;

use chare::Program;
use chare::prelude::*;
use chare_examples::start;
use clap::{Parser, ValueEnum};
use problem::{Exchange, Problem, Seen};
use std::process::ExitCode;

/// Exchanges halos of a field in three dimensions, by layouts and by hand.
#[derive(Parser, Clone, Debug)]
#[command(name = "halo", no_binary_name = true)]
struct Options {
    /// Points of a block along each axis
    #[arg(long, default_value_t = 32, value_parser = clap::value_parser!(u32).range(1..=1024))]
    side: u32,
    /// Points of the halo, as deep
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=64))]
    radius: u32,
    /// Blocks along each axis
    #[arg(long, num_args = 3, default_values_t = [2, 2, 2], value_parser = clap::value_parser!(u32).range(1..=256))]
    blocks: Vec<u32>,
    /// Exchanges of each way that are timed
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    exchanges: u32,
    /// Where fields lie
    #[arg(long, value_enum, default_value_t = Memory::Host)]
    memory: Memory,
}

#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
enum Memory {
    /// In the memory of hosts
    Host,
    /// On the devices of PEs
    Device,
}

impl Options {
    /// # Errors
    /// A halo that is deeper than a block, in words.
    fn problem(&self) -> Result<Problem, String> {
        if self.radius > self.side {
            return Err(format!(
                "--radius {}: a block has only {} points along an axis",
                self.radius, self.side
            ));
        }
        let blocks = [self.blocks[0], self.blocks[1], self.blocks[2]];
        let (side, radius) = (self.side as usize, self.radius as usize);
        Ok(Problem { blocks, side, radius, exchanges: self.exchanges })
    }
}

/// Exchanges both ways; whether every point was right.
async fn run(problem: Problem, memory: Memory) -> bool {
    let ([x, y, z], Problem { side, radius, .. }) = (problem.blocks, problem);
    println!(
        "{x} x {y} x {z} blocks of {side} x {side} x {side} points on {} PEs, a halo {radius} deep",
        chare::pes()
    );
    let mut all_wrong = 0;
    let run: Box<dyn Fn(Exchange, Callback<Seen>)> = match memory {
        Memory::Host => {
            let blocks = on_hosts::BlockProxy::create((x, y, z), problem);
            Box::new(move |exchange, done| blocks.run(exchange, done))
        }
        Memory::Device => {
            let blocks = on_devices::BlockProxy::create((x, y, z), problem);
            Box::new(move |exchange, done| blocks.run(exchange, done))
        }
    };
    for exchange in Exchange::ALL {
        let (seen, done) = chare::future();
        run(exchange, done);
        let (wrong, nanoseconds) = seen.await;
        let time_us = nanoseconds as f64 / 1e3 / f64::from(problem.exchanges);
        println!("exchange {}: {time_us:.1} us, {} bytes", exchange.name(), problem.bytes());
        all_wrong += wrong;
    }
    match all_wrong {
        0 => println!("all points are right"),
        wrong => println!("{wrong} points are wrong"),
    }
    all_wrong == 0
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options: Options = start::parse(program.arguments());
    let problem = match options.problem() {
        Ok(problem) => problem,
        Err(cause) => {
            eprintln!("halo: {cause}");
            return ExitCode::from(2);
        }
    };
    let program = if options.memory == Memory::Device { start::with_devices(program) } else { program };
    program.run(move |_arguments| async move {
        let is_right = run(problem, options.memory).await;
        chare::exit(i32::from(!is_right));
    })
}
