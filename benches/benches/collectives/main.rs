//! What does it cost to reach every element of an array, and to fold what they answer?
//!
//! One broadcast and one reduction over a million elements on two PEs; printed are nanoseconds per element.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, compare};
use clap::Parser;
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some ten milliseconds.
const BATCHES: u32 = 16;

const ARRAY: Side = &["side", "array", "1000000", "+p", "2"];
const SECTION: Side = &["side", "section", "1000000", "+p", "2"];
const CLOSURES: Side = &["side", "closures", "1000000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "array", ours: ARRAY, against: "a loop that calls closures", peer: CLOSURES },
    Comparison { name: "section", ours: SECTION, against: "a loop that calls closures", peer: CLOSURES },
];

/// What a broadcast and a reduction cost per element.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only comparisons whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, side, number, ..] = &words[..]
        && first == "side"
    {
        return play(side, number);
    }
    let Arguments { rounds, filter, .. } = Arguments::parse();
    let filter = filter.unwrap_or_default();
    let selected: Vec<Comparison> =
        COMPARISONS.iter().filter(|comparison| comparison.name.contains(&filter)).copied().collect();
    match compare(&selected, rounds) {
        Ok(_) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Measures as one side; `number` is how many elements there are.
fn play(side: &str, number: &str) -> ExitCode {
    let Ok(operations) = number.parse() else {
        eprintln!("`{number}` is no number");
        return ExitCode::from(2);
    };
    let batches = Batches { operations, count: BATCHES };
    match side {
        "array" => ours::array(batches),
        "section" => ours::section(batches),
        "closures" => {
            peers::closures(batches);
            ExitCode::SUCCESS
        }
        _ => {
            eprintln!("there is no side `{side}`");
            ExitCode::from(2)
        }
    }
}
