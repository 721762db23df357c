//! What does the libfabric backend add to what a provider takes by itself?
//!
//! Frames of 8 bytes to and fro, and gets and puts of whole regions, through `Lrts` alone, beside a program that does the
//! same with bare libfabric calls on the same provider: `fi_inject` and `fi_recv`, `fi_readmsg`, `fi_writemsg` with delivery
//! complete. It opens its queue with a descriptor, as whoever wants to sleep must, where the provider has one; what that costs
//! shows beside a spinner, which does without. A provider that is not here is told and left out.
//!
//! The last rows are gets whose region is registered with the network anew each time, beside gets from the registration cache.

mod raw;

use chare_benches::leased::{PATIENCE, Task, play};
use chare_benches::{Batches, Comparison, Side, compare};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::leased::Leased;
use chare_lrts::ofi::{self, OfiOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use clap::Parser;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

/// The sides of one provider: who, provider, what, operations of a batch, bytes of an operation.
macro_rules! comparisons {
    ($($provider:literal: $messages:literal messages, $transfers:literal transfers);* $(;)?) => {
        &[$(
            Comparison {
                name: concat!("8 B frame, ", $provider),
                ours: &["side", "ours", $provider, "message", $messages, "8", "+n", "2"],
                against: "fi_inject, fi_recv",
                peer: &["side", "raw", $provider, "message", $messages, "8"],
            },
            Comparison {
                name: concat!("get 1 MiB, ", $provider),
                ours: &["side", "ours", $provider, "get", $transfers, "1048576", "+n", "2"],
                against: "fi_readmsg",
                peer: &["side", "raw", $provider, "get", $transfers, "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, ", $provider),
                ours: &["side", "ours", $provider, "put", $transfers, "1048576", "+n", "2"],
                against: "fi_writemsg, delivered",
                peer: &["side", "raw", $provider, "put", $transfers, "1048576"],
            },
            Comparison {
                name: concat!("get 8 MiB, ", $provider),
                ours: &["side", "ours", $provider, "get", "4", "8388608", "+n", "2"],
                against: "fi_readmsg",
                peer: &["side", "raw", $provider, "get", "4", "8388608"],
            },
            Comparison {
                name: concat!("get 1 MiB, beside a spinner, ", $provider),
                ours: &["side", "ours", $provider, "get", $transfers, "1048576", "+n", "2"],
                against: "fi_readmsg, no descriptor",
                peer: &["side", "raw-spinning", $provider, "get", $transfers, "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, beside a spinner, ", $provider),
                ours: &["side", "ours", $provider, "put", $transfers, "1048576", "+n", "2"],
                against: "fi_writemsg, no descriptor",
                peer: &["side", "raw-spinning", $provider, "put", $transfers, "1048576"],
            },
            Comparison {
                name: concat!("get 64 KiB, no cache, ", $provider),
                ours: &["side", "ours", $provider, "get-uncached", "200", "65536", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", $provider, "get", "200", "65536", "+n", "2"],
            },
            Comparison {
                name: concat!("get 1 MiB, no cache, ", $provider),
                ours: &["side", "ours", $provider, "get-uncached", "20", "1048576", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", $provider, "get", "20", "1048576", "+n", "2"],
            },
            Comparison {
                name: concat!("get 8 MiB, no cache, ", $provider),
                ours: &["side", "ours", $provider, "get-uncached", "4", "8388608", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", $provider, "get", "4", "8388608", "+n", "2"],
            },
            Comparison {
                name: concat!("get 64 MiB, no cache, ", $provider),
                ours: &["side", "ours", $provider, "get-uncached", "1", "67108864", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", $provider, "get", "1", "67108864", "+n", "2"],
            },
        )*]
    };
}

const COMPARISONS: &[Comparison] = comparisons! {
    "tcp;ofi_rxm": "1000" messages, "20" transfers;
    "net": "1000" messages, "20" transfers;
    "shm": "10000" messages, "20" transfers;
};

/// What the libfabric backend takes, beside bare libfabric.
#[derive(Parser)]
struct Arguments {
    /// Rounds; every side runs once in each
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Only comparisons whose name contains this
    filter: Option<String>,
    /// Accepted because `cargo bench` passes it
    #[arg(long, hide = true)]
    bench: bool,
}

fn open(
    bootstrap: &mut dyn Bootstrap,
    other: NodeId,
    regions: Arc<Regions>,
    task: Task<'_>,
) -> Result<Leased, LrtsError> {
    let mut options = OfiOptions { provider: Some(task.network.to_owned()), ..OfiOptions::default() };
    if task.what == "get-uncached" {
        options.registrations_max = 0;
    }
    ofi::open(bootstrap, &[other], regions, &options, PATIENCE)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [first, who, provider, what, operations, bytes, ..] = &words[..]
        && first == "side"
        && let (Ok(operations), Ok(bytes)) = (operations.parse(), bytes.parse())
    {
        let batches = Batches { operations, count: BATCHES };
        let task = Task { network: provider, what, batches, bytes };
        let spins = who.ends_with("-spinning");
        return match who.as_str() {
            "ours" => play(task, open),
            "raw" | "raw-spinning" => code_of(raw::play(task, spins)),
            _ => code_of(raw::serve(task, spins)),
        };
    }
    let Arguments { rounds, filter, .. } = Arguments::parse();
    let filter = filter.unwrap_or_default();
    let selected: Vec<Comparison> = COMPARISONS
        .iter()
        .filter(|comparison| comparison.name.contains(&filter) && is_here(comparison.peer))
        .copied()
        .collect();
    code_of(compare(&selected, rounds).map(drop))
}

/// Whether the provider of a side can be opened; says so if not.
fn is_here(side: Side) -> bool {
    let opened = raw::probe(side[2]);
    if let Err(why) = &opened {
        println!("skipped: {}: {why}", side[2]);
    }
    opened.is_ok()
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
