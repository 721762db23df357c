//! How does a stencil code in three dimensions send its faces without copying them? Charm++'s example
//! `zerocopy/entry_method_api/*/stencil3d`.
//!
//! A box, cut into blocks, continues at its opposite sides; some points of each block are heated. In each of the iterations every block
//! sends its six faces, and sweeps when it has its neighbours'. In the mode `view`, upstream's, faces are nocopy arguments, read where they lie, and a block waits for
//! its own to come back and for all others; in the mode `messages` they are ordinary arguments; in the mode `posted` they land in memory that the
//! receiver gives; in the mode `awaited` a block is a loop that awaits them. With `--verify` each block is compared at the end with what one
//! process alone computes.
//!
//! ```text
//! cargo run --release --example stencil3d -- +n 4 --mode view --verify +stats
//! cargo run --release --example stencil3d -- 64 32 16 8 8 16 --mode awaited +p 4
//! ```

mod awaited;
mod messages;
mod posted;
mod problem;
mod view;

use chare_examples::ports::{self, RegistrationMode};
use clap::{Parser, ValueEnum};
use problem::Problem;
use std::process::ExitCode;

/// Computes temperatures in a box by Jacobi's method.
#[derive(Parser)]
#[command(name = "stencil3d", no_binary_name = true)]
#[command(
    override_usage = "stencil3d [OPTIONS] [<POINTS> <BLOCK>]\n       stencil3d [OPTIONS] <X> <Y> <Z> <BLOCK_X> <BLOCK_Y> <BLOCK_Z>"
)]
struct Options {
    /// Points of the box and of a block, for all axes or for each
    #[arg(num_args = 2..=6, default_values_t = [64, 32], value_parser = clap::value_parser!(u32).range(1..=4096))]
    sizes: Vec<u32>,
    /// How often the points are swept
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..))]
    iterations: u32,
    /// How faces travel, and how the blocks are written
    #[arg(long, value_enum, default_value_t = Mode::View)]
    mode: Mode,
    /// When faces that are nocopy arguments are registered
    #[arg(long, value_enum, default_value_t)]
    registration: RegistrationMode,
    /// Compares each block with what one process alone computes
    #[arg(long)]
    verify: bool,
}

#[derive(ValueEnum, Clone, Copy, Debug)]
enum Mode {
    /// Faces as ordinary arguments
    Messages,
    /// Faces read where they lie, and a barrier between iterations
    View,
    /// Faces land in buffers that the receiver gives
    Posted,
    /// An async entry awaits the faces of each iteration
    Awaited,
}

impl Options {
    /// # Errors
    /// Sizes that do not fit each other, in words.
    fn problem(&self) -> Result<Problem, String> {
        let sizes: Vec<usize> = self.sizes.iter().map(|size| *size as usize).collect();
        let (points, block) = match sizes[..] {
            [points, block] => ([points; 3], [block; 3]),
            [x, y, z, block_x, block_y, block_z] => ([x, y, z], [block_x, block_y, block_z]),
            _ => return Err(format!("{} sizes; two are needed, or six", sizes.len())),
        };
        for axis in 0..3 {
            if !points[axis].is_multiple_of(block[axis]) {
                return Err(format!("{} points cannot be cut into blocks of {}", points[axis], block[axis]));
            }
        }
        let Self { iterations, registration, verify: is_verified, .. } = *self;
        Ok(Problem { points, block, iterations, registration, is_verified })
    }
}

fn main() -> ExitCode {
    ports::run(|options: Options| async move {
        let problem = match options.problem() {
            Ok(problem) => problem,
            Err(cause) => {
                eprintln!("{cause}");
                return chare::exit(2);
            }
        };
        if problem.is_verified {
            chare::set_readonly(problem.solve());
        }
        let [x, y, z] = problem.blocks();
        println!("{x} x {y} x {z} blocks of {:?} points on {} PEs", problem.block, chare::pes());
        let (all_done, done) = chare::future();
        let start = chare::now();
        match options.mode {
            Mode::Messages => drop(messages::BlockProxy::create((x, y, z), problem, done)),
            Mode::View => view::BlockProxy::create((x, y, z), problem, done).step(),
            Mode::Posted => drop(posted::BlockProxy::create((x, y, z), problem, done)),
            Mode::Awaited => awaited::BlockProxy::create((x, y, z), problem).run(done),
        }
        all_done.await;
        let each_ms = (chare::now() - start).as_secs_f64() * 1e3 / f64::from(problem.iterations);
        println!("{} iterations, {each_ms:.3} ms each", problem.iterations);
        if problem.is_verified {
            println!("Every block is what one process alone computes");
        }
    })
}
