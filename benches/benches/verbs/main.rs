//! What does the verbs backend add to what a device takes by itself?
//!
//! Frames of 8 bytes to and fro, and gets of whole regions, through `Lrts` alone, beside perftest on the same devices:
//! `ib_send_lat` and `ib_read_bw`. `CHARE_VERBS` names two devices, for the two nodes; without devices there is nothing to measure.
//!
//! ```text
//! cargo bench -p chare-benches --features verbs --bench verbs --no-run
//! cargo xtask vm --env CHARE_VERBS=rxe1,rxe2 -- target/release/deps/verbs-...
//! ```

mod perftest;

use chare_benches::leased::{PATIENCE, Task, play};
use chare_benches::{Batches, Comparison, compare};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::leased::Leased;
use chare_lrts::verbs::{self, VerbsOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use clap::Parser;
use std::process::ExitCode;
use std::sync::Arc;

/// Samples of one run of our sides.
const BATCHES: u32 = 8;

const COMPARISONS: &[Comparison] = &[
    Comparison {
        name: "8 B frame",
        ours: &["side", "ours", "message", "200", "8", "+n", "2"],
        against: "ib_send_lat, average",
        peer: &["side", "perftest", "message", "1000", "8"],
    },
    Comparison {
        name: "get 1 MiB",
        ours: &["side", "ours", "get", "8", "1048576", "+n", "2"],
        against: "ib_read_bw",
        peer: &["side", "perftest", "get", "20", "1048576"],
    },
    Comparison {
        name: "get 8 MiB",
        ours: &["side", "ours", "get", "2", "8388608", "+n", "2"],
        against: "ib_read_bw",
        peer: &["side", "perftest", "get", "5", "8388608"],
    },
];

/// What the verbs backend takes, beside perftest.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn open(
    bootstrap: &mut dyn Bootstrap,
    other: NodeId,
    regions: Arc<Regions>,
    _: Task<'_>,
) -> Result<Leased, LrtsError> {
    let options = VerbsOptions { device: std::env::var("CHARE_VERBS").ok(), ..VerbsOptions::default() };
    verbs::open(bootstrap, &[other], regions, &options, PATIENCE)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, who, what, operations, bytes, ..] = &words[..]
        && first == "side"
        && let (Ok(operations), Ok(bytes)) = (operations.parse(), bytes.parse())
    {
        return match who.as_str() {
            "ours" => {
                let batches = Batches { operations, count: BATCHES };
                play(Task { network: "", what, batches, bytes }, open)
            }
            _ => code_of(perftest::measure(what, operations, bytes)),
        };
    }
    match verbs::devices() {
        Ok(devices) if !devices.is_empty() => {
            code_of(compare(COMPARISONS, Arguments::parse().rounds).map(drop))
        }
        Ok(_) => {
            println!("skipped: no RDMA device");
            ExitCode::SUCCESS
        }
        Err(why) => {
            println!("skipped: {why}");
            ExitCode::SUCCESS
        }
    }
}

fn code_of(result: std::io::Result<()>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
