//! How does an array of chares pass messages around? One message runs around a ring of elements, several times, and every
//! element counts how often it came by.
//!
//! ```text
//! cargo run --release --example ring -- --elements 12 --rounds 1000 +n 2 +p 2
//! ```

use chare::prelude::*;
use chare::{ArrayOptions, Placement};
use clap::Parser;
use std::process::ExitCode;

/// Passes a message around a ring of chares and checks how far it came.
#[derive(Parser, Clone, Debug)]
#[command(name = "ring", no_binary_name = true)]
struct Options {
    /// Elements of the ring
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    elements: u64,
    /// How often the message runs around
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=1_000_000_000))]
    rounds: u64,
}

struct Station {
    elements: u64,
    visits: u64,
}

#[chare(array)]
impl Station {
    #[entry]
    fn new(elements: u64) -> Self {
        Self { elements, visits: 0 }
    }

    /// Takes the message and passes it on, until `hops_left` is used up.
    #[entry]
    fn pass(&mut self, hops_left: u64, hops: u64, arrived: Callback<u64>) {
        self.visits += 1;
        if hops_left == 0 {
            arrived.send(hops);
            return;
        }
        let next = (self.this_index() + 1) % self.elements;
        self.this_collection().at(next).pass(hops_left - 1, hops + 1, arrived);
    }

    #[entry]
    fn report(&mut self, fewest: Callback<u64>, most: Callback<u64>) {
        self.contribute(min(self.visits), fewest);
        self.contribute(max(self.visits), most);
    }
}

async fn run(options: Options) -> bool {
    let Options { elements, rounds } = options;
    // Round robin: neighbours in the ring live on different PEs, so that every hop is a message between PEs.
    let ring = StationProxy::create(ArrayOptions::new(elements).placement(Placement::RoundRobin), elements);

    let (hops, arrived) = chare::future();
    let start = chare::now();
    // The element it starts at counts as the first hop.
    ring.at(0).pass(elements * rounds - 1, 1, arrived);
    let hops = hops.await;
    let hop_us = (chare::now() - start).as_secs_f64() * 1e6 / hops as f64;

    let ((fewest, to_fewest), (most, to_most)) = (chare::future(), chare::future());
    ring.report(to_fewest, to_most);
    let (fewest, most) = (fewest.await, most.await);
    println!("{hops} hops over {elements} elements on {} PEs, {hop_us:.2} us each", chare::pes());
    println!("every element was visited {fewest} to {most} times, {rounds} expected");
    hops == elements * rounds && fewest == rounds && most == rounds
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
