//! How many messages a second does a PE take from the others of its process?
//!
//! Senders push as fast as they can, one receiver takes; what is timed is from the start until the receiver has all. Printed are
//! nanoseconds per message, so the ratio of messages per second is the inverse of the one printed.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, compare};
use clap::Parser;
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const OURS_1: Side = &["side", "calls", "100000", "+p", "2"];
const OURS_4: Side = &["side", "calls", "100000", "+p", "5"];
const SEGMENTS_1: Side = &["side", "segments", "100000", "1"];
const SEGMENTS_4: Side = &["side", "segments", "100000", "4"];
const TOKIO_1: Side = &["side", "tokio", "100000", "1"];
const TOKIO_4: Side = &["side", "tokio", "100000", "4"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "1 sender", ours: OURS_1, against: "boxes over SegQueue", peer: SEGMENTS_1 },
    Comparison { name: "1 sender", ours: OURS_1, against: "tokio mpsc, unbounded", peer: TOKIO_1 },
    Comparison { name: "4 senders", ours: OURS_4, against: "boxes over SegQueue", peer: SEGMENTS_4 },
    Comparison { name: "4 senders", ours: OURS_4, against: "tokio mpsc, unbounded", peer: TOKIO_4 },
];

/// What a message costs when many are under way.
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
    if let [first, side, number, rest @ ..] = &words[..]
        && first == "side"
    {
        return play(side, number, rest);
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

/// Measures as one side; `number` is how many messages make a batch.
fn play(side: &str, number: &str, rest: &[String]) -> ExitCode {
    let Ok(operations) = number.parse() else {
        eprintln!("`{number}` is no number");
        return ExitCode::from(2);
    };
    let batches = Batches { operations, count: BATCHES };
    if side == "calls" {
        return ours::calls(batches);
    }
    let Some(Ok(senders)) = rest.first().map(|senders| senders.parse()) else {
        eprintln!("how many senders?");
        return ExitCode::from(2);
    };
    match side {
        "segments" => peers::segments(batches, senders),
        "tokio" => peers::tokio_mpsc(batches, senders),
        _ => {
            eprintln!("there is no side `{side}`");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
