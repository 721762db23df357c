//! How fast do small messages stream when everyone sends to everyone? Each PE sends a number of eight-byte messages to every PE, itself
//! included, and adds up what it gets. With `--aggregate`, calls travel together, many in one message.
//!
//! ```text
//! cargo run --release --example alltoall -- --messages 1000000 +n 2 +p 2
//! cargo run --release --example alltoall -- --messages 1000000 --aggregate +n 2 +p 2
//! ```

use chare::prelude::*;
use clap::Parser;
use std::process::ExitCode;

/// Streams small messages from every PE to every PE.
#[derive(Parser)]
#[command(name = "alltoall", no_binary_name = true)]
struct Options {
    /// Messages from each PE to each
    #[arg(long, default_value_t = 20_000)]
    messages: u64,
    /// Messages that a PE sends to each other one in one go, before it takes what has come
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u64).range(1..))]
    burst: u64,
    /// Let calls travel together
    #[arg(long)]
    aggregate: bool,
}

struct Peer {
    received: u64,
    sum: u64,
}

#[chare(group)]
impl Peer {
    #[entry]
    fn new() -> Self {
        Self { received: 0, sum: 0 }
    }

    #[entry]
    fn take(&mut self, number: u64) {
        self.received += 1;
        self.sum = self.sum.wrapping_add(number);
    }

    /// The same, by calls that travel together.
    #[entry(aggregate(dimensions = 2))]
    fn take_many(&mut self, number: u64) {
        self.take(number);
    }

    /// Sends the numbers from `from` to `to` to all, in bursts.
    #[entry]
    fn stream(&mut self, from: u64, to: u64, burst: u64, aggregate: bool) {
        let (all, end) = (self.this_collection(), to.min(from.saturating_add(burst)));
        for number in from..end {
            for peer in (0..chare::pes()).map(|pe| all.on(PeId(pe))) {
                if aggregate { peer.take_many(number) } else { peer.take(number) }
            }
        }
        if end < to {
            all.on(chare::my_pe()).stream(end, to, burst, aggregate);
        }
    }

    #[entry]
    fn report(&mut self, done: Callback<(u64, u64, u64)>) {
        self.contribute(tuple((min(self.received), max(self.received), sum(self.sum))), done);
    }
}

async fn run(Options { messages, burst, aggregate }: Options) -> bool {
    let peers = PeerProxy::create();
    chare::quiescence().await;
    let start = chare::now();
    peers.stream(0, messages, burst, aggregate);
    chare::quiescence().await;
    let seconds = (chare::now() - start).as_secs_f64();
    let (report, done) = chare::future();
    peers.report(done);
    let (fewest, most, sum) = report.await;
    let pes = u64::from(chare::pes());
    println!(
        "{} messages among {pes} PEs: {:.2} million a second",
        messages * pes * pes,
        (messages * pes * pes) as f64 / seconds / 1e6
    );
    let expected = (messages * pes, (0..messages).fold(0, u64::wrapping_add).wrapping_mul(pes * pes));
    println!("PEs got {fewest} to {most} messages, {} expected; their sum is {sum}", expected.0);
    (fewest, most, sum) == (expected.0, expected.0, expected.1)
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
