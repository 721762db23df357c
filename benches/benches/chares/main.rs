//! Chare costs: making a chare, waiting in one, finding one among others, fork and join.
//!
//! `cargo bench -p chare-benches --bench chares`; `benches/README.md` explains the rows.

mod fork_join;
mod ours;
mod peers;

use chare_benches::{Batches, Comparison, Side, run};
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

const CREATE: Side = &["side", "create", "50048"];
const SUSPEND: Side = &["side", "suspend", "100000"];
const AWAIT_CALL: Side = &["side", "await-call", "50000"];
const ELEMENT: Side = &["side", "element", "100000"];
const SINGLETON: Side = &["side", "singleton", "100000"];

const FORK_JOIN_1: Side = &["side", "fork-join", "4"];
const FORK_JOIN_2: Side = &["side", "fork-join", "4", "+p", "2"];
const FORK_JOIN_STEAL: Side = &["side", "fork-join", "4", "+p", "2", "+seeds", "steal"];

const RAYON_1: Side = &["side", "rayon", "4", "1"];
const RAYON_2: Side = &["side", "rayon", "4", "2"];
const TOKIO_SPAWN: Side = &["side", "tokio-spawn", "50048"];
const BOXES: Side = &["side", "boxes", "200192"];
const TOKIO_YIELD: Side = &["side", "tokio-yield", "100000"];
const LOCAL_FUTURE: Side = &["side", "local-future", "200000"];

const COMPARISONS: &[Comparison] = &[
    Comparison { name: "creation and first call", ours: CREATE, against: "tokio::spawn", peer: TOKIO_SPAWN },
    Comparison { name: "creation and first call", ours: CREATE, against: "Box and VecDeque", peer: BOXES },
    Comparison { name: "suspend and resume", ours: SUSPEND, against: "task of tokio", peer: TOKIO_YIELD },
    Comparison { name: "suspend and resume", ours: SUSPEND, against: "local future", peer: LOCAL_FUTURE },
    Comparison { name: "awaited call", ours: AWAIT_CALL, against: "call of a singleton", peer: SINGLETON },
    Comparison { name: "call of an element", ours: ELEMENT, against: "call of a singleton", peer: SINGLETON },
    Comparison {
        name: "fork-join fib(30), 1 PE",
        ours: FORK_JOIN_1,
        against: "rayon, 1 thread",
        peer: RAYON_1,
    },
    Comparison {
        name: "fork-join fib(30), 2 PEs",
        ours: FORK_JOIN_2,
        against: "rayon, 2 threads",
        peer: RAYON_2,
    },
    Comparison {
        name: "fork-join fib(30), 2 PEs, `+seeds steal`",
        ours: FORK_JOIN_STEAL,
        against: "rayon, 2 threads",
        peer: RAYON_2,
    },
];

fn main() -> ExitCode {
    run("What chares cost, beside the least that does the same", COMPARISONS, play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let batches = Batches { operations: number, count: BATCHES };
    match side {
        "create" => return Some(ours::create(batches)),
        "suspend" => return Some(ours::suspend(batches)),
        "await-call" => return Some(ours::await_call(batches)),
        "element" => return Some(ours::element(batches)),
        "singleton" => return Some(ours::singleton(batches)),
        "fork-join" => return Some(fork_join::chares(batches)),
        "rayon" => fork_join::rayon(batches, rest.first()?.parse().ok()?),
        "tokio-spawn" => peers::tokio_spawn(batches),
        "boxes" => peers::boxes(batches),
        "tokio-yield" => peers::tokio_yield(batches),
        "local-future" => peers::local_future(batches),
        _ => return None,
    }
    Some(ExitCode::SUCCESS)
}
