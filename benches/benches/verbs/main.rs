//! Verbs backend costs: the time that the backend adds to a device's own.
//!
//! Frames of 8 bytes to and fro, and gets of whole regions, through `Lrts` alone, beside perftest on the same devices:
//! `ib_send_lat` and `ib_read_bw`. The last rows are gets whose region is registered with the device anew each time, beside gets from
//! the registration cache. `CHARE_VERBS` names two devices, for the two nodes; without devices there is nothing to measure.
//!
//! ```text
//! cargo bench -p chare-benches --features verbs --bench verbs --no-run
//! cargo xtask vm --env CHARE_VERBS=rxe1,rxe2 -- target/release/deps/verbs-...
//! ```

mod perftest;

use chare_benches::leased::{self, PATIENCE, Task};
use chare_benches::{Batches, Benchmark, Comparison, code_of};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::leased::Leased;
use chare_lrts::verbs::{self, VerbsOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use std::process::ExitCode;
use std::sync::Arc;

/// Samples of one run of our sides.
const BATCHES: u32 = 8;

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "8 B frame",
        ours: &["side", "ours", "200", "message", "8", "+n", "2"],
        against: "ib_send_lat, average",
        peer: &["side", "perftest", "1000", "message", "8"],
    },
    Comparison {
        name: "get 1 MiB",
        ours: &["side", "ours", "8", "get", "1048576", "+n", "2"],
        against: "ib_read_bw",
        peer: &["side", "perftest", "20", "get", "1048576"],
    },
    Comparison {
        name: "get 8 MiB",
        ours: &["side", "ours", "2", "get", "8388608", "+n", "2"],
        against: "ib_read_bw",
        peer: &["side", "perftest", "5", "get", "8388608"],
    },
    Comparison {
        name: "get 64 KiB, no cache",
        ours: &["side", "ours", "40", "get-uncached", "65536", "+n", "2"],
        against: "with cache",
        peer: &["side", "ours", "40", "get", "65536", "+n", "2"],
    },
    Comparison {
        name: "get 1 MiB, no cache",
        ours: &["side", "ours", "8", "get-uncached", "1048576", "+n", "2"],
        against: "with cache",
        peer: &["side", "ours", "8", "get", "1048576", "+n", "2"],
    },
    Comparison {
        name: "get 8 MiB, no cache",
        ours: &["side", "ours", "2", "get-uncached", "8388608", "+n", "2"],
        against: "with cache",
        peer: &["side", "ours", "2", "get", "8388608", "+n", "2"],
    },
    Comparison {
        name: "get 64 MiB, no cache",
        ours: &["side", "ours", "1", "get-uncached", "67108864", "+n", "2"],
        against: "with cache",
        peer: &["side", "ours", "1", "get", "67108864", "+n", "2"],
    },
];

fn open(
    bootstrap: &mut dyn Bootstrap,
    other: NodeId,
    regions: Arc<Regions>,
    task: Task<'_>,
) -> Result<Leased, LrtsError> {
    let mut options = VerbsOptions { device: std::env::var("CHARE_VERBS").ok(), ..VerbsOptions::default() };
    if task.what == "get-uncached" {
        options.registrations_max = 0;
    }
    verbs::open(bootstrap, &[other], regions, &options, PATIENCE)
}

fn main() -> ExitCode {
    Benchmark::new("What the verbs backend takes, beside perftest", COMPARISONS)
        .where_possible(|comparison| is_here(comparison.name))
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [what, bytes, ..] = rest else { return None };
    let bytes = bytes.parse().ok()?;
    match side {
        "ours" => {
            let batches = Batches { operations: number, count: BATCHES };
            Some(leased::play(Task { network: "", what, batches, bytes }, open))
        }
        "perftest" => Some(code_of(perftest::measure(what, number, bytes))),
        _ => None,
    }
}

/// Whether there is a device; says so if not.
fn is_here(name: &str) -> bool {
    let why = match verbs::devices() {
        Ok(devices) if !devices.is_empty() => return true,
        Ok(_) => "no RDMA device".to_owned(),
        Err(why) => why.to_string(),
    };
    println!("skipped: {name}: {why}");
    false
}
