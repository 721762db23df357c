//! How does a program keep its balance while its work wanders off? Particles in cells, of the Parallel Research Kernels: most start at one side of a
//! grid and go to the other in the same direction, so the patches of cells that have work are others all the time.
//!
//! ```text
//! cargo run --release --example pic -- --verify +p 4 +balancer greedy_refine
//! cargo run --release --example pic -- --particles 1000000 --patches 16 +n 2 +p 2 +balancer hilbert
//! ```
//! Where each particle is at the end follows from where it started, by a closed form, and is checked for all. The work of a patch is its
//! particles, as its hook `#[load]` says; so what a balancer does is the same in every run. The charges that act on them are in an array of their
//! own, bound to that of the patches: two modules of a program that cut the same grid, each with its own state.

mod field;
mod particle;
mod patch;

use chare::ArrayOptions;
use chare_examples::loads::{self, History};
use chare_examples::picture;
use clap::Parser;
use field::FieldProxy;
use particle::Grid;
use patch::{PatchProxy, Problem};
use std::path::PathBuf;
use std::process::ExitCode;

/// Lets particles wander over a grid of charges.
#[derive(Parser)]
#[command(name = "pic", no_binary_name = true)]
struct Options {
    /// Patches along each side of the grid
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=256))]
    patches: u32,
    /// Cells along each side of a patch, an even number
    #[arg(long, default_value_t = 8, value_parser = even)]
    cells: u32,
    /// Particles, roughly
    #[arg(long, default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    particles: u32,
    /// How many times as many particles a column of cells has as the one before it
    #[arg(long, default_value_t = 0.93, value_parser = ratio)]
    ratio: f64,
    /// Particles go twice as many columns as that in each step, and one more
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    leap: u32,
    /// Rows that they go in each step
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(0..=1_000))]
    climb: u32,
    /// Steps of time
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// Steps between two syncs
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Look where all particles are before each sync, too, and not at the end alone
    #[arg(long)]
    verify: bool,
    /// A directory for a picture of the loads, made if it is not there; without it, none is drawn
    #[arg(long)]
    pictures: Option<PathBuf>,
}

fn even(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(number @ 2..=256) if number % 2 == 0 => Ok(number),
        _ => Err("write an even number from 2 to 256".to_owned()),
    }
}

fn ratio(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.01..=1.0).contains(number));
    number.ok_or_else(|| "write a number from 0.01 to 1".to_owned())
}

/// How many particles start, and the sum of their numbers.
fn count_alone(grid: Grid) -> (u64, u64) {
    let cells = (0..grid.side).flat_map(|row| (0..grid.side).map(move |column| [column, row]));
    let particles = cells.flat_map(|cell| grid.particles_of(cell));
    particles.fold((0, 0), |(count, numbers), particle| (count + 1, numbers + particle.number))
}

async fn run(options: Options) -> bool {
    let Options { patches, cells, particles, ratio, leap, climb, steps, every, verify, pictures } = options;
    let grid = Grid { side: patches * cells, particles, ratio, leap, climb };
    let problem = Problem { grid, patches, steps, every, verify };
    let ledger = loads::open();
    let array = PatchProxy::create((patches, patches), problem);
    let fields = FieldProxy::create(ArrayOptions::new((patches, patches)).bind_to(&array), problem);
    let start = chare::now();
    let (sums, done) = chare::future();
    array.run(fields, done);
    let (count, numbers, misplaced) = sums.await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let history = History::read(&ledger).await;
    history.print();
    if !picture::draw(pictures.as_deref(), &history) {
        return false;
    }
    let expected = count_alone(grid);
    println!(
        "{patches} x {patches} patches of {cells} x {cells} cells, {steps} steps on {} PEs: {milliseconds:.1} ms",
        chare::pes()
    );
    println!("{count} particles of {}, their numbers add up to {numbers} of {}", expected.0, expected.1);
    println!("{misplaced} are not where they belong");
    (count, numbers) == expected && misplaced == 0
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
