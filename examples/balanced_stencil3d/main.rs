//! How does a program balance itself whose parts differ in work? Heat spreads in a cube of blocks, of which some compute each step many times;
//! every few steps all blocks come to a sync, where the balancer moves them.
//!
//! ```text
//! cargo run --release --example balanced_stencil3d -- +p 4
//! cargo run --release --example balanced_stencil3d -- --pictures . +n 2 +p 2 +balancer greedy_refine
//! ```
//! A port of `load_balancing/stencil3d` of Charm++. The field is compared with that of one loop, bit by bit: it is the same with every
//! balancer, and without one. How long blocks take is measured; the table counts how often they compute.

mod block;
mod cube;

use block::{BlockProxy, Problem};
use chare_examples::loads::{self, History};
use chare_examples::picture;
use chare_examples::stencil::Side;
use clap::Parser;
use cube::Cube;
use std::path::PathBuf;
use std::process::ExitCode;

/// Lets heat spread in blocks that differ in work.
#[derive(Parser)]
#[command(name = "balanced_stencil3d", no_binary_name = true)]
struct Options {
    /// Blocks along each axis
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=64))]
    blocks: u32,
    /// Points of a block along each axis
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=128))]
    points: u32,
    /// Steps of time
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Steps between two syncs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// How often the last block computes each step; the first one does so once
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    sweeps: u32,
    /// A directory for a picture of the loads, made if it is not there; without it, none is drawn
    #[arg(long)]
    pictures: Option<PathBuf>,
}

/// The right answer: a field in one piece is its own neighbour.
fn run_alone(problem: Problem) -> u64 {
    let mut cube = Cube::new((problem.blocks * problem.points) as usize, [0; 3]);
    for _ in 0..problem.steps {
        for side in Side::all(3) {
            let face = cube.face(side);
            cube.set_frame(side.opposite(), &face);
        }
        cube.sweep(1);
    }
    cube.fingerprint([0; 3])
}

async fn run(options: Options) -> bool {
    let Options { blocks, points, steps, every, sweeps, pictures } = options;
    let problem = Problem { blocks, points, steps, every, sweeps };
    let ledger = loads::open();
    let (fingerprint, done) = chare::future();
    let array = BlockProxy::create((blocks, blocks, blocks), problem);
    let start = chare::now();
    array.run(done);
    let fingerprint: u64 = fingerprint.await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let history = History::read(&ledger).await;
    history.print();
    if !picture::draw(pictures.as_deref(), &history) {
        return false;
    }
    let expected = run_alone(problem);
    println!(
        "{} blocks of {points} x {points} x {points} points, {steps} steps on {} PEs: {milliseconds:.1} ms",
        blocks.pow(3),
        chare::pes()
    );
    println!("fingerprint {fingerprint:016x}, {expected:016x} expected");
    fingerprint == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
