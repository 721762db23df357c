//! How do objects come, go and move at the same time? Adaptive mesh refinement in one dimension: a ring of blocks that are small around a pulse, and
//! split and join as it goes round, while a balancer moves them.
//!
//! ```text
//! cargo run --release --example amr -- --generations 200 +p 4 +balancer greedy_refine
//! cargo run --release --example amr -- --finest 10 +n 2 +p 2 +balancer rcb
//! ```
//! Halves are born where their whole lives, so without a balancer all blocks are on few PEs soon. The masses are compared with those of one loop,
//! and none is lost.

mod block;
mod ring;

use block::{BlockProxy, Course, Origin, Sums, fingerprint};
use chare::ArrayOptions;
use chare_examples::loads::{self, History};
use clap::Parser;
use ring::{Fate, Place, Ring, halves, join, split, whole};
use std::collections::BTreeMap;
use std::process::ExitCode;

/// Follows a pulse around a ring of blocks, which split and join.
#[derive(Parser)]
#[command(name = "amr", no_binary_name = true)]
struct Options {
    /// The level of the largest blocks: 0 is the whole ring in one block, and each further level halves them
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(0..=8))]
    coarsest: u32,
    /// By how many levels blocks may be smaller
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(0..=8))]
    levels: u32,
    /// Pairs of cells in each block, large or small
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..=1024))]
    pairs: u32,
    /// How far from the pulse the smallest blocks are, in such blocks
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1024))]
    reach: u32,
    /// Generations of blocks, with a sync after each
    #[arg(long, default_value_t = 48, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    generations: u32,
}

/// The right answer.
fn run_alone(Course { ring, generations }: Course) -> Sums {
    let first = ring.blocks(0).into_iter().map(|block| (block, ring.first_masses(block)));
    let mut all: BTreeMap<Place, Vec<u64>> = first.collect();
    for generation in 0..generations {
        if generation > 0 {
            let kept = |block: Place| match ring.fate(block, generation - 1) {
                Fate::Stays => all[&block].clone(),
                // It was cut before.
                Fate::Splits => join(&all[&halves(block)[0]], &all[&halves(block)[1]]),
                Fate::Joins => {
                    let (whole, is_right) = whole(block);
                    split(&all[&whole])[usize::from(is_right)].clone()
                }
            };
            all = ring.blocks(generation).into_iter().map(|block| (block, kept(block))).collect();
        }
        for _ in 0..ring.steps() {
            let flows = all
                .iter()
                .map(|(block, masses)| (ring.right_of(*block, generation), ring.outflow(*block, masses)));
            for (block, inflow) in flows.collect::<Vec<_>>() {
                let masses = all.get_mut(&block).expect("what is to the right is a block");
                ring.flow(block, masses, inflow);
            }
        }
    }
    let mass = all.values().flatten().sum();
    let fingerprints = all.iter().map(|(block, masses)| fingerprint(*block, masses));
    (all.len() as u64, mass, fingerprints.fold(0, std::ops::BitXor::bitxor))
}

async fn run(options: Options) -> bool {
    let Options { coarsest, levels, pairs, reach, generations } = options;
    let ring = Ring { coarsest, finest: coarsest + levels, cells: 2 * pairs, reach };
    let course = Course { ring, generations };
    let first = ring.blocks(0);
    let mass: u64 = first.iter().flat_map(|block| ring.first_masses(*block)).sum();
    let ledger = loads::open();
    let start = chare::now();
    let blocks = BlockProxy::create(ArrayOptions::listed(first).dynamic(), course, 0, Origin::Beginning);
    chare::quiescence().await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    blocks.done_inserting();
    let (sums, done) = chare::future();
    blocks.report(done);
    let sums: Sums = sums.await;
    History::read(&ledger).await.print();
    let expected = run_alone(course);
    println!(
        "{} blocks after {generations} generations on {} PEs: {milliseconds:.1} ms",
        sums.0,
        chare::pes()
    );
    println!("mass {} of {mass}, fingerprint {:016x}, {:016x} expected", sums.1, sums.2, expected.2);
    sums == expected && sums.1 == mass
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
