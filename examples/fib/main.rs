//! How are chares created on the fly, and how do they answer? A Fibonacci number by divide and conquer: each chare creates two
//! more, waits for their answers, answers itself, and is gone. Below a grain it computes by itself. The two are on random PEs; with
//! `+seeds steal` they are on its own, unless another one of the process has nothing to do.
//!
//! ```text
//! cargo run --release --example fib -- --n 32 --grain 16 +n 2 +p 2
//! cargo run --release --example fib -- --n 32 --grain 16 +p 2 +seeds steal
//! ```

use chare::prelude::*;
use clap::Parser;
use serde::{Deserialize, Serialize};
use std::process::ExitCode;

/// Computes a Fibonacci number with a tree of short-lived chares.
#[derive(Parser, Clone, Debug)]
#[command(name = "fib", no_binary_name = true)]
struct Options {
    /// Which Fibonacci number
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(0..=50))]
    n: u32,
    /// Numbers below this one are computed without further chares
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u32).range(2..=50))]
    grain: u32,
}

/// Every PE reads it, nobody changes it.
#[derive(Clone, Serialize, Deserialize)]
struct Grain(u32);

struct Fib;

#[chare]
impl Fib {
    #[entry]
    fn new() -> Self {
        Self
    }

    /// Returns the number and how many chares it took; then this chare is gone.
    #[entry]
    async fn compute(_this: This<Self>, n: u32) -> (u64, u64) {
        let answer = if n < chare::readonly::<Grain>().0 {
            (by_recursion(n), 1)
        } else {
            // Both work before the first is waited for.
            let (left, right) = (FibProxy::create().compute(n - 1), FibProxy::create().compute(n - 2));
            let ((left, left_chares), (right, right_chares)) = (left.await, right.await);
            (left + right, left_chares + right_chares + 1)
        };
        chare::destroy();
        answer
    }
}

/// Slow on purpose: it stands for the work of a leaf.
fn by_recursion(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { by_recursion(n - 1) + by_recursion(n - 2) }
}

/// The right answer.
fn by_iteration(n: u32) -> u64 {
    (0..n).fold((0, 1), |(current, next), _| (next, current + next)).0
}

async fn run(options: Options) -> bool {
    let n = options.n;
    chare::set_readonly(Grain(options.grain));
    let start = chare::now();
    let (value, chares) = FibProxy::create().compute(n).await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let expected = by_iteration(n);
    println!(
        "fib({n}) = {value}, {expected} expected; {chares} chares on {} PEs, {milliseconds:.1} ms",
        chare::pes()
    );
    value == expected
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
