//! How does a program split work among more objects than it has data? LeanMD, the molecular dynamics of Charm++'s mini-apps: atoms live in cells, and
//! for each pair of neighbouring cells there is a chare that computes their forces.
//!
//! In each step a cell multicasts its positions to the section of the 27 pairs that it belongs to, and the section's reduction brings
//! back the forces on its atoms. Every few steps the cells hand over atoms that have left them.
//!
//! ```text
//! cargo run --release --example leanmd -- --cells 4 --steps 200 +n 2 +p 2
//! cargo run --release --example leanmd -- --cells 6 +p 4 +balancer greedy_refine
//! ```
//! Pairs move: every few steps they come to a sync, where a balancer may place them anew. Cells stay, for their loop is one `async` entry.
//!
//! Nothing pushes from outside, so the total energy must stay what it was. Forces are summed in fixed point, where the order of the summands does not
//! matter: the trajectory is the same, to the last bit, on any number of PEs, and the fingerprint that is printed shows it.

mod cell;
mod pair;
mod physics;

use cell::{CellProxy, Outcome};
use chare::ArrayOptions;
use chare_examples::loads::{self, History};
use clap::Parser;
use pair::PairProxy;
use physics::Space;
use std::collections::BTreeSet;
use std::process::ExitCode;

/// How much of the total energy may appear or vanish. The method's own error shrinks with the square of its time step and does not grow with
/// the number of steps; at [`physics::TIME_STEP`] and the atoms' first speeds it stays some five times below this.
const DRIFT_MAX: f64 = 1e-4;

/// Moves atoms by the forces between them, and checks that no energy is lost.
#[derive(Parser, Clone, Debug)]
#[command(name = "leanmd", no_binary_name = true)]
struct Options {
    /// Cells along each axis; fewer would meet a neighbour twice
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(3..=64))]
    cells: u32,
    /// Time steps
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    steps: u32,
    /// Steps between two syncs of the pairs
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

async fn run(options: Options) -> bool {
    let space = Space { cells: options.cells };
    let places = chare::indices((0, 0, 0)..space.extent());
    let pairs: BTreeSet<_> = places.flat_map(|place| space.pairs_of(place)).collect();
    println!("{} cells, {} pairs of them, {} PEs", space.len(), pairs.len(), chare::pes());

    let ledger = loads::open();
    let start = chare::now();
    let (outcome, done) = chare::future();
    let pairs = PairProxy::create(ArrayOptions::listed(pairs), space, options.every);
    let cells = CellProxy::create(space.extent(), space);
    cells.run(pairs, options.steps, done);
    let Outcome { energies, atoms, fingerprint } = Outcome::from(outcome.await);
    let each_ms = (chare::now() - start).as_secs_f64() * 1e3 / f64::from(options.steps);

    History::read(&ledger).await.print();
    let total: Vec<f64> = energies.iter().map(|[kinetic, potential]| kinetic + potential).collect();
    let drift = total.iter().map(|energy| ((energy - total[0]) / total[0]).abs()).fold(0.0, f64::max);
    let expected = space.len() * physics::ATOMS_PER_CELL;
    println!("{} steps, {each_ms:.3} ms each", options.steps);
    println!("{atoms} atoms of {expected}, fingerprint {fingerprint:016x}");
    println!("energy {:.6} at first, {:.6} at last", total[0], total[total.len() - 1]);
    println!("relative drift {drift:.2e}, at most {DRIFT_MAX:.0e} expected");
    atoms == expected && drift <= DRIFT_MAX
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
