//! From which size on is a `#[nocopy]` argument no slower than an ordinary one, on each path?
//!
//! `cargo bench -p chare-benches --bench crossover`; what the rows mean stands in `benches/README.md`.

mod player;

use chare_benches::{Batches, Comparison, compare};
use clap::Parser;
use player::{Play, Way};
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds: the number of operations of each path makes it so.
const BATCHES: u32 = 8;

/// A nocopy argument that takes so little longer is not called slower: the machine's noise is more.
const NOISE: f64 = 1.03;

/// What one path is called, its sizes in bytes, and a row for each against either kind of ordinary argument.
struct Path {
    name: &'static str,
    sizes: &'static [&'static str],
    against_kept: &'static [Comparison],
    against_given: &'static [Comparison],
}

macro_rules! path {
    ($name:literal, $operations:literal, $memory:literal, [$($option:literal),*]) => {
        path!(@ $name, $operations, $memory, [$($option),*],
            "256" "512" "1024" "2048" "4096" "8192" "16384" "32768" "65536")
    };
    (@ $name:literal, $operations:literal, $memory:literal, $options:tt, $($size:literal)*) => {
        Path {
            name: $name,
            sizes: &[$($size),*],
            against_kept: &[$(
                path!(# $name, "regular, sender keeps its data", "kept", $operations, $memory, $options, $size)
            ),*],
            against_given: &[$(
                path!(# $name, "regular, given away", "given", $operations, $memory, $options, $size)
            ),*],
        }
    };
    (# $name:literal, $against:literal, $way:literal, $operations:literal, $memory:literal,
        [$($option:literal),*], $size:literal) => {
        Comparison {
            name: concat!($name, ", ", $size, " B, nocopy"),
            ours: &["side", "nocopy", $operations, $memory, $size $(, $option)*],
            against: $against,
            peer: &["side", $way, $operations, $memory, $size $(, $option)*],
        }
    };
}

const PATHS: &[Path] = &[
    path!("in process", "4000", "heap", ["+p", "2"]),
    path!("shm", "2000", "shareable", ["+n", "2", "+lrts", "shm", "+nocma"]),
    path!("cma", "1000", "heap", ["+n", "2", "+lrts", "cma"]),
    path!("tcp", "300", "heap", ["+n", "2", "+lrts", "tcp", "+nolocal"]),
    path!("emulated", "500", "heap", ["+n", "2", "+lrts", "emulated"]),
];

/// Nocopy arguments beside ordinary ones.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only paths whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, way, operations, memory, size, ..] = &words[..]
        && first == "side"
    {
        let way = match &way[..] {
            "nocopy" => Way::Nocopy,
            "kept" => Way::Kept,
            _ => Way::Given,
        };
        let (Ok(operations), Ok(size)) = (operations.parse(), size.parse()) else {
            eprintln!("`{operations}` or `{size}` is no number");
            return ExitCode::from(2);
        };
        let play = Play { way, size, shareable: memory == "shareable" };
        return player::play(play, Batches { operations, count: BATCHES });
    }
    let Arguments { rounds, filter, .. } = Arguments::parse();
    let filter = filter.unwrap_or_default();
    for path in PATHS.iter().filter(|path| path.name.contains(&filter)) {
        match compare(&[path.against_kept, path.against_given].concat(), rounds) {
            Ok(ratios) => {
                let (kept, given) = ratios.split_at(path.sizes.len());
                println!("{}, data kept: {}", path.name, crossover(path, kept));
                println!("{}, given away: {}\n", path.name, crossover(path, given));
            }
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

/// From where on no row is slower.
fn crossover(path: &Path, ratios: &[f64]) -> String {
    let from = path.sizes.iter().zip(ratios).rev().take_while(|(_, ratio)| **ratio <= NOISE).last();
    match from {
        Some((size, _)) => format!("nocopy is no slower from {size} bytes on"),
        None => "nocopy is slower at all sizes".to_owned(),
    }
}
