//! How does a chare talk to several others at once and wait for all of them? Elements in a ring; in each round every one asks its `k`
//! next neighbours on both sides to add up a vector, and goes on when all have answered.
//!
//! ```text
//! cargo run --release --example kneighbor -- --elements 64 --neighbours 3 --bytes 4096 +n 2 +p 2
//! ```
//! A port of Charm++'s benchmark of this name. Elements do not wait for each other: one may be a round ahead of its neighbours.

use chare::ArrayOptions;
use chare::prelude::*;
use clap::Parser;
use std::process::ExitCode;

/// Exchanges messages with the nearest neighbours in a ring and checks what they answer.
#[derive(Parser, Clone, Debug)]
#[command(name = "kneighbor", no_binary_name = true)]
struct Options {
    /// Elements of the ring
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    elements: u64,
    /// Neighbours on each side
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(0..=1_000))]
    neighbours: u64,
    /// Bytes that go to each neighbour in each round
    #[arg(long, default_value_t = 1024, value_parser = clap::value_parser!(u64).range(0..=1 << 30))]
    bytes: u64,
    /// Rounds
    #[arg(long, default_value_t = 100)]
    rounds: u64,
}

struct Cell {
    elements: u64,
    answered: u64,
}

#[chare(array)]
impl Cell {
    #[entry]
    fn new(elements: u64) -> Self {
        Self { elements, answered: 0 }
    }

    /// Returns the sum of some bytes.
    #[entry]
    fn add_up(&mut self, bytes: Vec<u8>) -> u64 {
        self.answered += 1;
        bytes.into_iter().map(u64::from).sum()
    }

    /// Asks all neighbours, round after round. `done` gets how many answers were right.
    #[entry]
    async fn ask(this: This<Self>, neighbours: u64, bytes: u64, rounds: u64, done: Callback<u64>) {
        let (all, me, elements) =
            (this.this_collection(), this.this_index(), this.with(|cell| cell.elements));
        let mut right = 0;
        for round in 0..rounds {
            let fill = round as u8;
            let at = |distance| all.at((me + distance) % elements);
            let both_sides = (1..=neighbours).flat_map(|step| [step % elements, elements - step % elements]);
            let answers =
                both_sides.map(|distance| at(distance).add_up(vec![fill; bytes as usize]).into_future());
            let sums = chare::wait_all(answers.collect::<Vec<_>>()).await;
            right += sums.into_iter().filter(|sum| *sum == bytes * u64::from(fill)).count() as u64;
        }
        this.contribute(sum(right), done);
    }

    #[entry]
    fn report(&mut self, done: Callback<(u64, u64)>) {
        self.contribute(tuple((min(self.answered), max(self.answered))), done);
    }
}

async fn run(options: Options) -> bool {
    let Options { elements, neighbours, bytes, rounds } = options;
    let ring = CellProxy::create(ArrayOptions::new(elements), elements);
    let start = chare::now();
    let (right, done) = chare::future();
    ring.ask(neighbours, bytes, rounds, done);
    let right = right.await;
    let microseconds = (chare::now() - start).as_secs_f64() * 1e6;
    let (bounds, done) = chare::future();
    ring.report(done);
    let (fewest, most) = bounds.await;
    let (each, all) = (2 * neighbours * rounds, 2 * neighbours * rounds * elements);
    println!(
        "{elements} elements with {neighbours} neighbours on each side, {bytes} bytes: {:.2} us a round on {} PEs",
        microseconds / rounds.max(1) as f64,
        chare::pes()
    );
    println!(
        "{right} of {all} answers are right; elements answered {fewest} to {most} times, {each} expected"
    );
    right == all && (fewest, most) == (each, each)
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
