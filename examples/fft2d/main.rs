//! How is a matrix transposed while it travels? A Fourier transform in two dimensions: chares hold the rows of a square matrix of complex numbers;
//! each transforms its rows, sends to each other one its share of the columns, and transforms what has landed.
//!
//! ```text
//! cargo run --release --example fft2d -- +n 4 --verify
//! cargo run --release --example fft2d -- --size 1024 --slabs 4 +n 2 +p 2
//! ```
//! Columns leave from where they stand among the rows, and land as rows: the transposition is one exchange between two partitions, and no
//! loop copies anything. The matrix is a wave, whose transform has two peaks; transforming it back gives the wave. With `--verify` each slab
//! compares each of its numbers with them, after each transform and outside what is timed.

mod slab;

use chare::{Exchange, Program};
use chare_examples::start;
use clap::Parser;
use slab::{Problem, SlabProxy};
use std::process::ExitCode;
use std::time::Duration;

/// Transforms a square matrix and transforms it back.
#[derive(Parser, Clone, Debug)]
#[command(name = "fft2d", no_binary_name = true)]
struct Options {
    /// Rows and columns
    #[arg(long, default_value_t = 256, value_parser = clap::value_parser!(u32).range(8..=16_384))]
    size: u32,
    /// Chares that share the rows, as many each
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    slabs: u32,
    /// How often to transform and transform back
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Compare every number, after each transform
    #[arg(long)]
    verify: bool,
}

/// Rounding errors of a transform and its inverse grow with the logarithm of the size.
const ACCURACY: f64 = 1e-10;

async fn run(options: Options) -> bool {
    let Options { size, slabs, rounds, verify } = options;
    let problem = Problem { size: size as usize, slabs: slabs as usize };
    let slab = SlabProxy::create(u64::from(slabs), problem, Exchange::create(u64::from(slabs)));
    let mut transforming = Duration::ZERO;
    let (mut peaks, mut error) = (0.0_f64, 0.0_f64);
    for _ in 0..rounds {
        for is_inverse in [false, true] {
            let start = chare::now();
            let (transformed, done) = chare::future();
            slab.transform(is_inverse, done);
            transformed.await;
            transforming += chare::now() - start;
            if verify {
                let (off, done) = chare::future();
                slab.compare(is_inverse, done);
                let off: f64 = off.await;
                if is_inverse { error = error.max(off) } else { peaks = peaks.max(off) }
            }
        }
    }
    let each_ms = transforming.as_secs_f64() * 1e3 / f64::from(2 * rounds);
    println!(
        "{size} x {size} numbers in {slabs} slabs on {} PEs: {each_ms:.3} ms each transform",
        chare::pes()
    );
    if verify {
        println!("off the peaks by {peaks:.3e}, off the wave by {error:.3e}, at most {ACCURACY:e} expected");
    }
    peaks <= ACCURACY && error <= ACCURACY
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = start::parse::<Options>(program.arguments());
    if !options.size.is_multiple_of(options.slabs) {
        eprintln!("--slabs {}: {} rows cannot be shared by as many each", options.slabs, options.size);
        return ExitCode::from(2);
    }
    program.run(|_arguments| async {
        let passed = run(options).await;
        chare::exit(i32::from(!passed));
    })
}
