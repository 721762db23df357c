//! How well does a balancer do on objects of which some have much more to do than others? A ring, a mesh or a random graph of objects with made-up
//! work: in each step they tell each other a number and work, and every few steps they come to a sync.
//!
//! ```text
//! cargo run --release --example lb_test -- --topology ring +p 4 +balancer greedy
//! cargo run --release --example lb_test -- --topology pairs --bytes 1000 +n 2 +p 2 +balancer bisect
//! cargo run --release --example lb_test -- --topology mesh2d --objects 1024 +n 2 +p 2 +balancer rcb
//! ```
//! Pairs begin as far apart as they can: what of their calls goes from node to node, the program tells.
//! A port of Charm++'s test of this name. What objects tell each other adds up to a number that is compared with that of one loop.

mod graph;
mod object;

use chare_examples::loads::{self, History};
use chare_examples::picture;
use clap::Parser;
use graph::{Graph, Topology};
use object::{ObjectProxy, Problem, first_value, next_value};
use std::path::PathBuf;
use std::process::ExitCode;

/// Balances objects that differ in work.
#[derive(Parser)]
#[command(name = "lb_test", no_binary_name = true)]
struct Options {
    /// Objects
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    objects: u64,
    /// Who tells whom
    #[arg(long, value_enum, default_value_t = Topology::Mesh2d)]
    topology: Topology,
    /// Half of whom each object of a random graph tells
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=1_000))]
    degree: u64,
    /// Steps
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Steps between two syncs
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// The least that an object works in a step, in microseconds or so
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    least: u32,
    /// How much more than that it works at most
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(0..=1_000_000))]
    more: u32,
    /// Bytes that each object tells beside its number
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=10_000_000))]
    bytes: u32,
    /// A directory for a picture of the loads, made if it is not there; without it, none is drawn
    #[arg(long)]
    pictures: Option<PathBuf>,
}

/// The right answer: the sum of what objects that do not work have in the end.
fn run_alone(graph: Graph, steps: u32) -> u64 {
    let mut values: Vec<u64> = (0..graph.objects).map(first_value).collect();
    let told: Vec<Vec<u64>> = (0..graph.objects).map(|object| graph.told_by(object)).collect();
    for _ in 0..steps {
        let mut heard = vec![0_u64; values.len()];
        for (value, told) in values.iter().zip(&told) {
            told.iter().for_each(|object| {
                heard[*object as usize] = heard[*object as usize].wrapping_add(*value);
            });
        }
        values.iter_mut().zip(heard).for_each(|(value, heard)| *value = next_value(*value, heard));
    }
    values.iter().map(|value| value >> 32).sum()
}

async fn run(options: Options) -> bool {
    let Options { objects, topology, degree, steps, every, least, more, bytes, pictures } = options;
    let graph = Graph { topology, objects, degree };
    let ledger = loads::open();
    let array =
        ObjectProxy::create(objects, Problem { graph, steps, every, work: (least, least + more), bytes });
    let start = chare::now();
    let (total, done) = chare::future();
    array.run(done);
    let total: u64 = total.await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let history = History::read(&ledger).await;
    history.print();
    if !picture::draw(pictures.as_deref(), &history) {
        return false;
    }
    let expected = run_alone(graph, steps);
    println!("{objects} objects ({topology:?}), {steps} steps on {} PEs: {milliseconds:.1} ms", chare::pes());
    println!("their values add up to {total}, {expected} expected");
    total == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
