//! How long would a program take on a machine that I do not have? Skeletons of programs: they send what such a program sends, and compute by
//! [`chare::sim::compute`]. Run for real they measure, and in a simulated job with a model of the network they predict.
//!
//! ```text
//! cargo run --release --example skeletons -- --pattern stencil --bytes 2000 --compute 20000 +n 2
//! cargo run --release --features sim --example skeletons -- --pattern stencil --bytes 2000 --compute 20000 +sim 4096 \
//!     +model loggops:L=1000,o=300,g=100,G=0.08 +costs 100
//! ```

use chare::prelude::*;
use clap::{Parser, ValueEnum};
use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::time::Duration;

/// Runs a skeleton of a program and prints how long each of its rounds takes.
#[derive(Parser)]
#[command(name = "skeletons", no_binary_name = true)]
struct Options {
    /// Who sends to whom
    #[arg(long, value_enum, default_value_t = Pattern::Stencil)]
    pattern: Pattern,
    /// Lengths of messages, one run each
    #[arg(long, value_delimiter = ',', default_value = "1000")]
    bytes: Vec<usize>,
    /// What each PE computes in each round, in nanoseconds
    #[arg(long, default_value_t = 0)]
    compute: u64,
    /// Rounds of a run
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Runs, of which the quickest counts
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum, Serialize, Deserialize)]
enum Pattern {
    /// PE 0 calls itself, again and again
    Alone,
    /// PE 0 and the last one send a message to and fro; a round is one way
    PingPong,
    /// PE 0 sends to the last one, all at once
    Flood,
    /// Each PE sends to both neighbours on a ring and waits for both
    Stencil,
    /// Each PE sends to all others and waits for all
    AllToAll,
    /// A broadcast from PE 0, and a reduction to it
    Reduce,
}

/// One run.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Run {
    pattern: Pattern,
    bytes: usize,
    compute_ns: u64,
    rounds: u32,
}

struct Worker {
    run: Option<(Run, Callback<()>)>,
    round: u32,
    /// Messages that have come for this round and for the next one, by whether their number is odd: nobody is further ahead.
    came: [usize; 2],
}

#[chare(group)]
impl Worker {
    #[entry]
    fn new() -> Self {
        Self { run: None, round: 0, came: [0; 2] }
    }

    /// Begins a run in which all PEs do the same.
    #[entry]
    fn begin(&mut self, run: Run, done: Callback<()>) {
        (self.run, self.round) = (Some((run, done)), 0);
        self.send(run);
        self.go_on();
    }

    #[entry]
    fn take(&mut self, round: u32, _data: Vec<u8>) {
        self.came[round as usize % 2] += 1;
        self.go_on();
    }

    fn peers(&self, pattern: Pattern) -> Vec<PeId> {
        let (me, all) = (chare::my_pe().0, chare::pes());
        match pattern {
            Pattern::Stencil => [me + 1, me + all - 1].map(|pe| PeId(pe % all)).to_vec(),
            _ => (1..all).map(|distance| PeId((me + distance) % all)).collect(),
        }
    }

    fn send(&self, run: Run) {
        for peer in self.peers(run.pattern) {
            self.this_collection().on(peer).take(self.round, vec![0; run.bytes]);
        }
    }

    /// Goes on for as long as what it waits for is there.
    fn go_on(&mut self) {
        while let Some((run, done)) = &self.run {
            let (run, came) = (*run, &mut self.came[self.round as usize % 2]);
            let expected = if run.pattern == Pattern::Stencil { 2 } else { chare::pes() as usize - 1 };
            if *came < expected {
                return;
            }
            *came = 0;
            chare::sim::compute(Duration::from_nanos(run.compute_ns));
            self.round += 1;
            if self.round == run.rounds {
                let done = *done;
                self.run = None;
                return self.contribute(barrier(), done);
            }
            self.send(run);
        }
    }

    /// Sends a message to and fro, or to itself.
    #[entry]
    fn pass(&mut self, run: Run, done: Callback<()>, _data: Vec<u8>) {
        chare::sim::compute(Duration::from_nanos(run.compute_ns));
        if run.rounds == 0 {
            return done.send(());
        }
        let last = chare::pes() - 1;
        let next = if run.pattern == Pattern::Alone { 0 } else { last - chare::my_pe().0 };
        let data = vec![0; run.bytes];
        self.this_collection().on(PeId(next)).pass(Run { rounds: run.rounds - 1, ..run }, done, data);
    }

    /// Sends all messages at once.
    #[entry]
    fn flood(&mut self, run: Run, done: Callback<()>) {
        let last = self.this_collection().on(PeId(chare::pes() - 1));
        (1..=run.rounds).for_each(|number| last.count(run, number, done, vec![0; run.bytes]));
    }

    #[entry]
    fn count(&mut self, run: Run, _number: u32, done: Callback<()>, _data: Vec<u8>) {
        self.came[0] += 1;
        if self.came[0] == run.rounds as usize {
            self.came[0] = 0;
            done.send(());
        }
    }

    #[entry]
    fn answer(&mut self, run: Run, done: Callback<u64>, _data: Vec<u8>) {
        chare::sim::compute(Duration::from_nanos(run.compute_ns));
        self.contribute(sum(1_u64), done);
    }
}

/// The time of a run.
async fn measure(workers: &WorkerProxy, run: Run) -> Duration {
    let begun = chare::now();
    let (over, done) = chare::future();
    match run.pattern {
        Pattern::Stencil | Pattern::AllToAll => workers.begin(run, done),
        Pattern::Alone | Pattern::PingPong => workers.on(PeId(0)).pass(run, done, vec![0; run.bytes]),
        Pattern::Flood => workers.on(PeId(0)).flood(run, done),
        Pattern::Reduce => {
            for _ in 0..run.rounds {
                let (counted, to_counted) = chare::future();
                workers.answer(run, to_counted, vec![0; run.bytes]);
                assert_eq!(counted.await, u64::from(chare::pes()), "all have answered");
            }
            done.send(());
        }
    }
    over.await;
    chare::now() - begun
}

async fn run(options: Options) {
    let workers = WorkerProxy::create();
    chare::quiescence().await;
    let Options { pattern, compute: compute_ns, rounds, .. } = options;
    for bytes in options.bytes {
        let run = Run { pattern, bytes, compute_ns, rounds };
        measure(&workers, Run { rounds: rounds.div_ceil(10), ..run }).await;
        let mut least = Duration::MAX;
        for _ in 0..options.runs {
            least = least.min(measure(&workers, run).await);
        }
        let each = least.as_nanos() as f64 / f64::from(rounds);
        let pes = chare::pes();
        println!(
            "{pattern:?} on {pes} PEs, {bytes} bytes, {compute_ns} ns of computing: {each:.1} ns each round"
        );
    }
}

fn main() -> ExitCode {
    chare_examples::start::run(run)
}
