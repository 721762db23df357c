//! libfabric backend costs: the time that the backend adds to a provider's own.
//!
//! Frames of 8 bytes to and fro, and gets and puts of whole regions, through `Lrts` alone, beside a program that does the
//! same with bare libfabric calls on the same provider: `fi_inject` and `fi_recv`, `fi_readmsg`, `fi_writemsg` with delivery
//! complete. It opens its queue with a descriptor, as a program that sleeps must, where the provider has one; a spinner, which
//! does without, shows the cost of that. The benchmark names a provider that the machine lacks, and leaves it out.
//!
//! The last rows are gets whose region is registered with the network anew each time, beside gets from the registration cache.

mod raw;

use chare_benches::leased::{self, PATIENCE, Task};
use chare_benches::{Batches, Benchmark, Comparison, code_of};
use chare_lrts::bootstrap::Bootstrap;
use chare_lrts::leased::Leased;
use chare_lrts::ofi::{self, OfiOptions};
use chare_lrts::{LrtsError, NodeId, Regions};
use std::process::ExitCode;
use std::sync::Arc;

/// Samples of one run of a side. A batch takes some milliseconds.
const BATCHES: u32 = 16;

/// The sides of one provider: who, operations of a batch, provider, what, bytes of an operation.
macro_rules! comparisons {
    ($($provider:literal: $messages:literal messages, $transfers:literal transfers);* $(;)?) => {
        &[$(
            Comparison {
                name: concat!("8 B frame, ", $provider),
                ours: &["side", "ours", $messages, $provider, "message", "8", "+n", "2"],
                against: "fi_inject, fi_recv",
                peer: &["side", "raw", $messages, $provider, "message", "8"],
            },
            Comparison {
                name: concat!("get 1 MiB, ", $provider),
                ours: &["side", "ours", $transfers, $provider, "get", "1048576", "+n", "2"],
                against: "fi_readmsg",
                peer: &["side", "raw", $transfers, $provider, "get", "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, ", $provider),
                ours: &["side", "ours", $transfers, $provider, "put", "1048576", "+n", "2"],
                against: "fi_writemsg, delivered",
                peer: &["side", "raw", $transfers, $provider, "put", "1048576"],
            },
            Comparison {
                name: concat!("get 8 MiB, ", $provider),
                ours: &["side", "ours", "4", $provider, "get", "8388608", "+n", "2"],
                against: "fi_readmsg",
                peer: &["side", "raw", "4", $provider, "get", "8388608"],
            },
            Comparison {
                name: concat!("get 1 MiB, beside a spinner, ", $provider),
                ours: &["side", "ours", $transfers, $provider, "get", "1048576", "+n", "2"],
                against: "fi_readmsg, no descriptor",
                peer: &["side", "raw-spinning", $transfers, $provider, "get", "1048576"],
            },
            Comparison {
                name: concat!("put 1 MiB, beside a spinner, ", $provider),
                ours: &["side", "ours", $transfers, $provider, "put", "1048576", "+n", "2"],
                against: "fi_writemsg, no descriptor",
                peer: &["side", "raw-spinning", $transfers, $provider, "put", "1048576"],
            },
            Comparison {
                name: concat!("get 64 KiB, no cache, ", $provider),
                ours: &["side", "ours", "200", $provider, "get-uncached", "65536", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", "200", $provider, "get", "65536", "+n", "2"],
            },
            Comparison {
                name: concat!("get 1 MiB, no cache, ", $provider),
                ours: &["side", "ours", "20", $provider, "get-uncached", "1048576", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", "20", $provider, "get", "1048576", "+n", "2"],
            },
            Comparison {
                name: concat!("get 8 MiB, no cache, ", $provider),
                ours: &["side", "ours", "4", $provider, "get-uncached", "8388608", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", "4", $provider, "get", "8388608", "+n", "2"],
            },
            Comparison {
                name: concat!("get 64 MiB, no cache, ", $provider),
                ours: &["side", "ours", "1", $provider, "get-uncached", "67108864", "+n", "2"],
                against: "with cache",
                peer: &["side", "ours", "1", $provider, "get", "67108864", "+n", "2"],
            },
        )*]
    };
}

const COMPARISONS: &[Comparison] = comparisons! {
    "tcp;ofi_rxm": "1000" messages, "20" transfers;
    "net": "1000" messages, "20" transfers;
    "shm": "10000" messages, "20" transfers;
};

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
    Benchmark::new("What the libfabric backend takes, beside bare libfabric", COMPARISONS)
        .where_possible(|comparison| is_here(comparison.peer[3]))
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [provider, what, bytes, ..] = rest else { return None };
    let batches = Batches { operations: number, count: BATCHES };
    let task = Task { network: provider, what, batches, bytes: bytes.parse().ok()? };
    let spins = side.ends_with("-spinning");
    Some(match side {
        "ours" => leased::play(task, open),
        "raw" | "raw-spinning" => code_of(raw::play(task, spins)),
        "serve" | "serve-spinning" => code_of(raw::serve(task, spins)),
        _ => return None,
    })
}

/// Whether a provider can be opened; says so if not.
fn is_here(provider: &str) -> bool {
    let opened = raw::probe(provider);
    if let Err(why) = &opened {
        println!("skipped: {provider}: {why}");
    }
    opened.is_ok()
}
