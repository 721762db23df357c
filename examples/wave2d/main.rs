//! How does a simulation show what it does? Waves on a membrane, in tiles; from time to time one reduction brings all tiles together, and
//! a picture is written. Before it goes on, tiles may be balanced: `+balancer greedy_refine`.
//!
//! ```text
//! cargo run --release --example wave2d -- --pictures . +n 2 +p 2
//! ```
//! A port of Charm++'s example of this name. Opposite sides of the membrane touch. The answer is compared with one PE's, bit by bit.

mod field;
mod picture;
mod tile;

use chare_examples::stencil::Side;
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;
use tile::{Membrane, Picture, TileProxy};

/// Lets a wave run over a membrane.
#[derive(Parser)]
#[command(name = "wave2d", no_binary_name = true)]
struct Options {
    /// Tiles in each direction
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    tiles: u32,
    /// Points of a tile in each direction
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=1024))]
    points: u32,
    /// Steps of time
    #[arg(long, default_value_t = 600)]
    steps: u32,
    /// Steps between two pictures
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
    /// A directory for the pictures, made if it is not there; without it, none is written
    #[arg(long)]
    pictures: Option<PathBuf>,
}

/// Puts tiles where they belong, row by row.
fn assemble(membrane: Membrane, tiles: &[Picture]) -> Vec<f64> {
    let (side, points) = (membrane.side(), membrane.points as usize);
    let mut whole = vec![0.0; side * side];
    for ((right, up), values) in tiles {
        for (row, line) in values.chunks(points).enumerate() {
            let start = (*up as usize * points + row) * side + *right as usize * points;
            whole[start..start + points].copy_from_slice(line);
        }
    }
    whole
}

/// The right answer: a membrane in one piece is its own neighbour.
fn run_alone(membrane: Membrane, steps: u32) -> Vec<f64> {
    let side = membrane.side();
    let mut field = field::at_rest(side, |column, row| membrane.bump(column, row));
    for _ in 0..steps {
        for side in Side::all(2) {
            let edge = field.edge_values(side);
            field.set_frame(side.opposite(), &edge);
        }
        assert!(field.make_ready(4), "nobody else reads it");
        field::step(&mut field);
    }
    field::values(&field)
}

async fn run(options: Options) -> bool {
    let Options { tiles, points, steps, every, pictures } = options;
    let membrane = Membrane { tiles, points };
    let array = TileProxy::create((tiles, tiles), membrane);
    let (mut step, mut whole) = (0, run_alone(membrane, 0));
    while step < steps {
        let more = every.min(steps - step);
        let (picture, done) = chare::future();
        array.run(more, done);
        whole = assemble(membrane, &picture.await);
        step += more;
        if let Some(directory) = &pictures
            && let Err(error) = picture::write(directory, step, membrane.side(), &whole)
        {
            eprintln!("error: no picture in {}: {error}", directory.display());
            return false;
        }
    }
    match &pictures {
        Some(directory) => println!("pictures: {}", directory.join("wave-*.png").display()),
        None => println!("no pictures: `--pictures .` writes them here"),
    }
    let is_right = whole == run_alone(membrane, steps);
    println!("{tiles} x {tiles} tiles of {points} x {points} points, {steps} steps on {} PEs", chare::pes());
    println!("the waves are {} as on one PE", if is_right { "the same" } else { "not the same" });
    is_right
}

fn main() -> ExitCode {
    chare_examples::start::check(run)
}
