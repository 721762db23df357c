//! How does a program ask many questions and take the answers as they come? The primes below a limit, counted range by range: every PE
//! has two ranges to do, and gets the next one when one of them is answered.
//!
//! ```text
//! cargo run --release --example primes -- --limit 2000000 --range 10000 +n 2 +p 2
//! ```

use chare::FutureSet;
use chare::prelude::*;
use clap::Parser;
use std::process::ExitCode;

/// Counts the primes below a limit.
#[derive(Parser)]
#[command(name = "primes", no_binary_name = true)]
struct Options {
    /// Numbers to look at
    #[arg(long, default_value_t = 1_000_000)]
    limit: u64,
    /// Numbers to look at in one go
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    range: u64,
}

/// Ranges that a PE has to do at a time: one to work at and one that waits.
const AT_ONCE: u32 = 2;

struct Counter;

#[chare(group)]
impl Counter {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Returns which PE it was, too: that one gets the next range.
    #[entry]
    fn count(&mut self, from: u64, below: u64) -> (u64, PeId) {
        ((from..below).filter(|number| is_prime(*number)).count() as u64, chare::my_pe())
    }
}

fn is_prime(number: u64) -> bool {
    number > 1
        && (2..).take_while(|factor| factor * factor <= number).all(|factor| !number.is_multiple_of(factor))
}

/// The right answer, by the sieve of Eratosthenes.
fn by_sieve(limit: u64) -> u64 {
    let mut is_composite = vec![false; limit as usize];
    let mut primes = 0;
    for number in 2..limit {
        if !is_composite[number as usize] {
            primes += 1;
            (number * number..limit)
                .step_by(number as usize)
                .for_each(|multiple| is_composite[multiple as usize] = true);
        }
    }
    primes
}

async fn run(Options { limit, range }: Options) -> bool {
    let start = chare::now();
    let counters = CounterProxy::create();
    let mut ranges =
        (0..limit).step_by(range as usize).map(|from| (from, limit.min(from.saturating_add(range))));
    let ask = |pe, (from, below)| counters.on(pe).count(from, below);
    let everywhere = (0..AT_ONCE).flat_map(|_| (0..chare::pes()).map(PeId));
    let mut answers: FutureSet<_> = everywhere.zip(&mut ranges).map(|(pe, range)| ask(pe, range)).collect();
    let mut primes = 0;
    while !answers.is_empty() {
        for (_, (found, pe)) in chare::wait_some(&mut answers).await {
            primes += found;
            answers.extend(ranges.next().map(|range| ask(pe, range)));
        }
    }
    let (expected, milliseconds) = (by_sieve(limit), (chare::now() - start).as_secs_f64() * 1e3);
    println!(
        "{primes} primes below {limit}, {expected} expected; {milliseconds:.1} ms on {} PEs",
        chare::pes()
    );
    primes == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
