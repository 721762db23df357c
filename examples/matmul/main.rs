//! How are matrices dealt out, shared along rows and columns, and put together again? A product of two matrices: chares that have a tile
//! of each show the one to their row of tiles, the other to their column, and add up the products of what they see.
//!
//! ```text
//! cargo run --release --example matmul -- --size 1024 --tiles 4 --verify +n 2 +p 2
//! ```
//! The numbers are whole, so sums are exact in any order. With `--verify` the product is checked against a vector: `C x = A (B x)`.

mod tile;

use chare::prelude::*;
use chare::{Gather, Partition};
use chare_examples::start;
use clap::Parser;
use std::process::ExitCode;
use tile::{Lines, Problem, TileProxy};

/// Multiplies two square matrices.
#[derive(Parser, Clone, Debug)]
#[command(name = "matmul", no_binary_name = true)]
struct Options {
    /// Rows and columns of the matrices
    #[arg(long, default_value_t = 512, value_parser = clap::value_parser!(u32).range(1..=32_768))]
    size: u32,
    /// Rows and columns of tiles, each of which is a chare
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=256))]
    tiles: u32,
    /// Compare the product of the product and a vector with that of both matrices and the vector
    #[arg(long)]
    verify: bool,
}

/// A matrix of small whole numbers.
fn matrix(size: usize, seed: usize) -> Buffer<f64> {
    let number = |at: usize| ((at * 31 + seed) % 17) as f64 - 8.0;
    BufferMut::from_fn(size * size, number).freeze()
}

fn times(matrix: &[f64], vector: &[f64]) -> Vec<f64> {
    let product = |row: &[f64]| row.iter().zip(vector).map(|(left, right)| left * right).sum();
    matrix.chunks(vector.len()).map(product).collect()
}

async fn run(Options { size, tiles: count, verify }: Options) -> bool {
    let problem = Problem { size: size as usize, tiles: count as usize };
    let (a, b) = (matrix(problem.size, 3), matrix(problem.size, 5));
    let tiles = TileProxy::create((count, count), problem);
    let lines = Lines {
        rows: (0..count).map(|row| tiles.section((0..count).map(|column| (row, column)))).collect(),
        columns: (0..count).map(|column| tiles.section((0..count).map(|row| (row, column)))).collect(),
    };
    let blocks = Partition::blocks([problem.size; 2], [problem.tiles; 2]).expect("a tile for each");
    let start = chare::now();
    let (filled, done) = chare::future::<BufferMut<f64>>();
    let product = Gather::into(BufferMut::zeroed(problem.size * problem.size), &blocks, done);
    let (a_dealt, b_dealt) =
        (SendBuffer::from(a.clone()).each(&blocks), SendBuffer::from(b.clone()).each(&blocks));
    tiles.take(a_dealt, b_dealt, lines, product);
    let c = filled.await;
    let seconds = (chare::now() - start).as_secs_f64();
    let operations = 2.0 * f64::from(size).powi(3);
    println!(
        "{size} x {size} numbers in {count} x {count} tiles on {} PEs: {:.1} ms, {:.2} billion operations a second",
        chare::pes(),
        seconds * 1e3,
        operations / seconds / 1e9
    );
    if !verify {
        return true;
    }
    let vector: Vec<f64> = (0..problem.size).map(|at| (at % 7) as f64 - 3.0).collect();
    let is_right = times(&c, &vector) == times(&a, &times(&b, &vector));
    println!("the product is {}", if is_right { "right" } else { "wrong" });
    is_right
}

fn main() -> ExitCode {
    start::check(run)
}
