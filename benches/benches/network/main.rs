//! What does the network layer itself take, below all that a call is?
//!
//! Frames of 8 bytes to and fro through `Lrts::send` and `Lrts::progress` alone, beside the raw limit of the path. What
//! `call_costs` shows on top of these figures is the runtime's share.

mod frames;
mod limits;

use chare_benches::{Batches, Comparison, Side, compare};
use clap::Parser;
use std::io;
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const SHM: Side = &["side", "frames", "20000", "shm", "+n", "2"];
const TCP: Side = &["side", "frames", "1000", "tcp", "+n", "2"];

const CACHE_LINE: Side = &["side", "cache-line", "50000"];
const BLOCKING_SOCKET: Side = &["side", "blocking-socket", "500"];
const SPINNING_SOCKET: Side = &["side", "spinning-socket", "1000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "8 B frame, shm", ours: SHM, against: "shared cache line", peer: CACHE_LINE },
    Comparison { name: "8 B frame, tcp", ours: TCP, against: "blocking socket", peer: BLOCKING_SOCKET },
    Comparison { name: "8 B frame, tcp", ours: TCP, against: "spinning socket", peer: SPINNING_SOCKET },
];

/// What a frame costs, beside the raw limit of its path.
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
    code_of(compare(&selected, rounds).map(drop))
}

/// Measures as one side; `number` is how many operations make a batch, or where to connect to.
fn play(side: &str, number: &str, rest: &[String]) -> ExitCode {
    let Ok(number) = number.parse() else {
        eprintln!("`{number}` is no number");
        return ExitCode::from(2);
    };
    let batches = Batches { operations: number, count: BATCHES };
    match (side, rest) {
        ("frames", [backend, ..]) => return frames::to_and_fro(batches, backend),
        ("cache-line", _) => limits::cache_line(batches),
        ("blocking-socket", _) => return code_of(limits::socket(batches, "blocking")),
        ("spinning-socket", _) => return code_of(limits::socket(batches, "spinning")),
        ("echo", [manner]) => {
            let port = u16::try_from(number).map_err(io::Error::other);
            return code_of(port.and_then(|port| limits::echo(port, manner == "spinning")));
        }
        _ => {
            eprintln!("there is no side `{side}`");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

fn code_of(result: io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
