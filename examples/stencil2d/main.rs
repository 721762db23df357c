//! How does a stencil code whose fields lie on devices exchange halos? SHOC's Stencil2D, which MV2-GPU-NC was measured by: nine points, a
//! field that is cut into tiles, in each step the edges and corners of all eight neighbours.
//!
//! A tile sends its neighbours layouts of its field, as nocopy arguments: no loop packs, and no call knows where the neighbour's device
//! is. Its device sweeps it, by a kernel on the tile's stream (`kernel`); the host sees no point of the field before it compares all of them.
//!
//! Tiles move: every few sweeps they come to a sync, where a balancer may place them anew. Inside a process a field stays where it lies, unless the
//! new PE has another device.
//!
//! Without `+device` the fields lie on a software device.
//!
//! ```text
//! cargo run --release --example stencil2d -- --verify +n 2
//! cargo run --release --features cuda --example stencil2d -- --size 2048 2048 --verify +n 2 +device cuda
//! cargo run --release --example stencil2d -- --verify +p 2 +device software:2 +balancer rotate
//! cargo run --release --example stencil2d -- --compare +p 4 +device software       beside an exchange by hand
//! cargo run --release --example stencil2d -- --single --verify +p 2                in single precision
//! ```

mod field;
mod kernel;
mod sweep;
mod tile;

use chare::prelude::*;
use chare::{Instantiated, Program};
use chare_examples::start;
use clap::Parser;
use field::{Problem, Size, Way};
use std::process::ExitCode;
use sweep::Real;
use tile::exchange::{Among, Exchange};
use tile::{Tile, TileProxy};

/// Sweeps a field on devices with a stencil of nine points.
#[derive(Parser, Clone, Debug)]
#[command(name = "stencil2d", no_binary_name = true)]
struct Options {
    /// Rows and columns of the field
    #[arg(long, num_args = 2, default_values_t = [256, 256], value_parser = clap::value_parser!(u32).range(1..=65_536))]
    size: Vec<u32>,
    /// Rows and columns of tiles
    #[arg(long, num_args = 2, default_values_t = [2, 2], value_parser = clap::value_parser!(u32).range(1..=1024))]
    tiles: Vec<u32>,
    /// How often the field is swept
    #[arg(long, default_value_t = 10)]
    steps: u32,
    /// Sweeps between two syncs, in which tiles may move
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// Compare the field with what one loop computes
    #[arg(long)]
    verify: bool,
    /// Points are numbers of single precision, not double
    #[arg(long)]
    single: bool,
    /// Before, exchange edges as often as the field is swept by nocopy arguments and by hand, and say what both take
    #[arg(long)]
    compare: bool,
}

impl Options {
    /// # Errors
    /// Tiles that do not divide the field, in words.
    fn problem(&self) -> Result<Problem, String> {
        let (size, tiles) = ([self.size[0], self.size[1]], [self.tiles[0], self.tiles[1]]);
        for axis in 0..2 {
            if !size[axis].is_multiple_of(tiles[axis]) {
                return Err(format!("{} points cannot be cut into {} tiles", size[axis], tiles[axis]));
            }
        }
        let tile = Size { rows: (size[0] / tiles[0]) as usize, columns: (size[1] / tiles[1]) as usize };
        Ok(Problem { tiles, tile, steps: self.steps, every: self.every, is_verified: self.verify })
    }
}

/// Says what an exchange takes: the slowest tile's, on average; how many bytes the first tile gets in one; and what those in some directions take.
async fn compare<R: Real>(problem: &Problem, tiles: &TileProxy<R>)
where
    Tile<R>: Instantiated,
{
    let (compared, done) = chare::future::<Vec<u64>>();
    tiles.compare(problem.steps, done);
    let times_us: Vec<f64> = compared.await.into_iter().map(|time_ns| time_ns as f64 / 1e3).collect();
    let edges = Way::all().filter(|way| way.from((0, 0), problem.tiles).is_some());
    let bytes: u64 = edges.map(|way| way.edge::<R>(problem.tile).raw().bytes()).sum();
    for (among, times_us) in Among::EACH.into_iter().zip(times_us.chunks(Exchange::ALL.len())) {
        for (exchange, time_us) in Exchange::ALL.into_iter().zip(times_us) {
            let (name, lines) = (exchange.name(), exchange.lines());
            match among {
                Among::All => println!("exchange {name}: {time_us:.1} us, {bytes} bytes, {lines} lines"),
                some => println!("{} {name}: {time_us:.1} us", some.name()),
            }
        }
    }
}

async fn run<R: Real>(problem: Problem, compares: bool)
where
    Tile<R>: Instantiated,
{
    let tiles = TileProxy::<R>::create((problem.tiles[0], problem.tiles[1]), problem);
    if compares {
        compare(&problem, &tiles).await;
    }
    let start = chare::now();
    let (swept, done) = chare::future::<u64>();
    tiles.run(done);
    let wrong = swept.await;
    let milliseconds = (chare::now() - start).as_secs_f64() * 1e3;
    let Problem { tiles: [down, across], tile: Size { rows, columns }, steps, .. } = problem;
    println!(
        "{steps} sweeps of {down} x {across} tiles of {rows} x {columns} points on {} PEs: {milliseconds:.1} ms",
        chare::pes()
    );
    if problem.is_verified {
        println!(
            "{}",
            if wrong == 0 { "the field is right".to_owned() } else { format!("{wrong} points are wrong") }
        );
    }
    chare::exit(i32::from(wrong > 0));
}

fn main() -> ExitCode {
    let program = match Program::from_environment() {
        Ok(program) => program,
        Err(code) => return code,
    };
    let options: Options = start::parse(program.arguments());
    let problem = match options.problem() {
        Ok(problem) => problem,
        Err(cause) => {
            eprintln!("stencil2d: {cause}");
            return ExitCode::FAILURE;
        }
    };
    start::with_devices(program).run(move |_arguments| async move {
        match options.single {
            true => run::<f32>(problem, options.compare).await,
            false => run::<f64>(problem, options.compare).await,
        }
    })
}
