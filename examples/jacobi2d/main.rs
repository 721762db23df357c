//! How does a stencil code exchange halos without copying them twice? Laplace's equation on a rectangle by Jacobi's method, cut into
//! blocks. In the mode `messages` edges are ordinary arguments, which each block counts; in the mode `posted` it posts the buffers that its
//! neighbours' edges land in and goes on when all have; in the mode `awaited` it is a loop that awaits them.
//!
//! ```text
//! cargo run --release --example jacobi2d -- --columns 64 --rows 64 --blocks 4 --accuracy 1e-3 +n 2 +p 2
//! ```
//! Blocks may be balanced whenever all have been asked how much they have changed: `+balancer greedy_refine`.
//!
//! The boundary is x² - y², which is harmonic also for the five-point stencil, so the solution is known in every point.

mod awaited;
mod messages;
mod posted;
mod problem;

use chare::Program;
use chare_examples::start;
use clap::{Parser, ValueEnum};
use problem::Problem;
use std::process::ExitCode;

/// Solves Laplace's equation on a rectangle and compares with the exact solution.
#[derive(Parser, Clone, Debug)]
#[command(name = "jacobi2d", no_binary_name = true)]
struct Options {
    /// Unknowns from left to right
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=16_384))]
    columns: u64,
    /// Unknowns from bottom to top
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=16_384))]
    rows: u64,
    /// Blocks in each direction
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(1..=1024))]
    blocks: u64,
    /// The largest distance from the exact solution, which lies between -1 and 1
    #[arg(long, default_value_t = 1e-3, value_parser = parse_accuracy)]
    accuracy: f64,
    /// The most iterations, which end it short of the accuracy
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    iterations: Option<u64>,
    /// How edges travel, and how the blocks are written
    #[arg(long, value_enum, default_value_t = Mode::Posted)]
    mode: Mode,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Mode {
    /// Entries count edges that come as ordinary arguments
    Messages,
    /// Entries react to edges as they land
    Posted,
    /// An async entry awaits the edges of each iteration
    Awaited,
}

impl Options {
    /// No point may change by more than this in the last iteration.
    ///
    /// When no point changes by more than `c`, the error is the solution of the same equations with sources of at most `c`, which
    /// lies below `c` times the parabola `2 i (n + 1 - i)` across the shorter side `n`, and so below `c (n + 1)² / 2`. No later iteration makes
    /// the error larger.
    fn tolerance(&self) -> f64 {
        2.0 * self.accuracy / (self.columns.min(self.rows) + 1).pow(2) as f64
    }
}

/// Rounding keeps points from coming closer than some limit, which no request may lie below.
fn parse_accuracy(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(accuracy) if (1e-6..=0.1).contains(&accuracy) => Ok(accuracy),
        Ok(_) => Err("it must lie between 1e-6 and 0.1".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

async fn run(options: Options) -> bool {
    let Options { columns, rows, blocks, accuracy, iterations: most, mode } = options;
    let tolerance = options.tolerance();
    let ((iterations, to_iterations), (error, to_error)) = (chare::future(), chare::future());
    let most = most.unwrap_or(u64::MAX);
    let problem =
        Problem { columns, rows, blocks, tolerance, most, iterations: to_iterations, error: to_error };
    let start = chare::now();
    match mode {
        Mode::Messages => messages::BlockProxy::create((blocks, blocks), problem).start(),
        Mode::Posted => posted::BlockProxy::create((blocks, blocks), problem).start(),
        Mode::Awaited => awaited::BlockProxy::create((blocks, blocks), problem).run(),
    }
    let (iterations, error) = (iterations.await, error.await);
    let seconds = (chare::now() - start).as_secs_f64();

    println!("{columns} x {rows} points in {blocks} x {blocks} blocks on {} PEs", chare::pes());
    if iterations >= most {
        println!("{iterations} iterations in {seconds:.2} s; largest error {error:.3e}");
        return true;
    }
    println!(
        "{iterations} iterations in {seconds:.2} s, until no point changed by more than {tolerance:.3e}"
    );
    println!("largest error {error:.3e}, at most {accuracy:e} expected");
    error <= accuracy
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options = start::parse::<Options>(program.arguments());
    let points = options.columns.min(options.rows);
    if options.blocks > points {
        eprintln!("--blocks {} in a direction of {points} points: a block needs a point", options.blocks);
        return ExitCode::from(2);
    }
    program.run(|_arguments| async {
        let passed = run(options).await;
        chare::exit(i32::from(!passed));
    })
}
