//! Message rates: how many messages a second a PE takes from the others of its process.
//!
//! Senders push as fast as they can, one receiver takes; the time runs from the start until the receiver has all. The table shows
//! nanoseconds per message, so the ratio of messages per second is the inverse of the one printed.

mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, run};
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

fn main() -> ExitCode {
    run("What a message costs when many are under way", COMPARISONS, play)
}

/// Measures as one side; `number` is how many messages make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let senders = rest.first().and_then(|senders| senders.parse().ok());
    match (side, senders) {
        ("calls", _) => return Some(ours::calls(batches)),
        ("segments", Some(senders)) => peers::segments(batches, senders),
        ("tokio", Some(senders)) => peers::tokio_mpsc(batches, senders),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
