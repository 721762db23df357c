//! What does a call cost on each path, beside the raw limit of that path?
//!
//! `cargo bench -p chare-benches --bench call_costs`; what the rows mean stands in `benches/README.md`.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Manner, Side, cache_line, compare, echo, socket};
use clap::Parser;
use std::io;
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds: the second number of each side makes it so.
const BATCHES: u32 = 16;

const SAME_PE: Side = &["side", "chain", "50000"];
const OTHER_PE: Side = &["side", "chain", "20000", "+p", "2"];
const OTHER_PROCESS: Side = &["side", "chain", "10000", "+n", "2", "+lrts", "shm"];
const OVER_TCP: Side = &["side", "chain", "500", "+n", "2", "+lrts", "tcp"];

const VIRTUAL_CALL: Side = &["side", "virtual-call", "200000"];
const QUEUE: Side = &["side", "queue", "20000"];
const ARRAY_QUEUE: Side = &["side", "array-queue", "20000"];
const CACHE_LINE: Side = &["side", "cache-line", "50000"];
const SOCKET: Side = &["side", "socket", "500"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "same PE", ours: SAME_PE, against: "VecDeque and virtual call", peer: VIRTUAL_CALL },
    Comparison { name: "other PE", ours: OTHER_PE, against: "boxes over SegQueue", peer: QUEUE },
    Comparison { name: "other PE", ours: OTHER_PE, against: "boxes over ArrayQueue", peer: ARRAY_QUEUE },
    Comparison { name: "other PE", ours: OTHER_PE, against: "shared cache line", peer: CACHE_LINE },
    Comparison {
        name: "other process, shm",
        ours: OTHER_PROCESS,
        against: "shared cache line",
        peer: CACHE_LINE,
    },
    Comparison { name: "other process, tcp", ours: OVER_TCP, against: "blocking socket", peer: SOCKET },
];

/// What a call costs, beside the raw limit of its path.
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
        ("chain", _) => return ours::chain(batches),
        ("virtual-call", _) => peers::virtual_call(batches),
        ("queue", _) => peers::segment_queue(batches),
        ("array-queue", _) => peers::array_queue(batches),
        ("cache-line", _) => cache_line(batches),
        ("socket", _) => return code_of(socket(batches, Manner::Blocking)),
        ("echo", [manner]) => {
            let port = u16::try_from(number).map_err(io::Error::other);
            return code_of(port.and_then(|port| echo(port, manner)));
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
