//! Call costs: one call on each path, beside the raw limit of that path.
//!
//! `cargo bench -p chare-benches --bench call_costs`; `benches/README.md` explains the rows.

mod ours;
mod peers;

use chare_benches::{
    Batches, Comparison, Manner, Side, cache_line, cache_line_each_way, code_of, echo, run, socket,
};
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
const CACHE_LINE_EACH_WAY: Side = &["side", "cache-line-each-way", "50000"];
const SOCKET: Side = &["side", "socket", "500"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "same PE", ours: SAME_PE, against: "VecDeque and virtual call", peer: VIRTUAL_CALL },
    Comparison { name: "other PE", ours: OTHER_PE, against: "boxes over SegQueue", peer: QUEUE },
    Comparison { name: "other PE", ours: OTHER_PE, against: "boxes over ArrayQueue", peer: ARRAY_QUEUE },
    Comparison { name: "other PE", ours: OTHER_PE, against: "shared cache line", peer: CACHE_LINE },
    Comparison {
        name: "other PE",
        ours: OTHER_PE,
        against: "a cache line each way",
        peer: CACHE_LINE_EACH_WAY,
    },
    Comparison {
        name: "other process, shm",
        ours: OTHER_PROCESS,
        against: "shared cache line",
        peer: CACHE_LINE,
    },
    Comparison {
        name: "other process, shm",
        ours: OTHER_PROCESS,
        against: "a cache line each way",
        peer: CACHE_LINE_EACH_WAY,
    },
    Comparison { name: "other process, tcp", ours: OVER_TCP, against: "blocking socket", peer: SOCKET },
];

fn main() -> ExitCode {
    run("What a call costs, beside the raw limit of its path", COMPARISONS, play)
}

/// Measures as one side; `number` is how many operations make a batch, or where to connect to.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    let port = || u16::try_from(number).map_err(io::Error::other);
    match (side, rest) {
        ("chain", _) => return Some(ours::chain(batches)),
        ("virtual-call", _) => peers::virtual_call(batches),
        ("queue", _) => peers::segment_queue(batches),
        ("array-queue", _) => peers::array_queue(batches),
        ("cache-line", _) => cache_line(batches),
        ("cache-line-each-way", _) => cache_line_each_way(batches),
        ("socket", _) => return Some(code_of(socket(batches, Manner::Blocking))),
        ("echo", [manner]) => return Some(code_of(port().and_then(|port| echo(port, manner)))),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
