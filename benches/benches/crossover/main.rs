//! Crossover sizes: from which size on a `#[nocopy]` argument is no slower than an ordinary one, on each path.
//!
//! `cargo bench -p chare-benches --bench crossover`; `benches/README.md` explains the rows. With `--features ofi,verbs,mpi` also
//! over libfabric's providers, over RDMA devices and under each MPI.

mod paths;
mod player;

use chare_benches::{Batches, Benchmark, Comparison, code_of, launcher};
use player::{Play, Way};
use std::process::ExitCode;

/// Samples of one run of a side. A batch takes some milliseconds: the number of operations of each path makes it so.
const BATCHES: u32 = 8;

/// A nocopy argument that takes so little longer is not called slower: the machine's noise is more.
const NOISE: f64 = 1.03;

fn main() -> ExitCode {
    Benchmark::new("Nocopy arguments beside ordinary ones", &paths::rows())
        .where_possible(is_possible)
        .concluding(conclude)
        .run(play)
}

/// Measures as one side; `number` is how many operations make a batch.
fn play(side: &str, number: u64, rest: &[String]) -> Option<ExitCode> {
    let [memory, size, starter, ..] = rest else { return None };
    let way = match side {
        "nocopy" => Way::Nocopy,
        "kept" => Way::Kept,
        "given" => Way::Given,
        _ => return None,
    };
    if starter != paths::ITSELF && !launcher::is_launched() {
        return Some(code_of(Err(launcher::launch(starter))));
    }
    let play = Play { way, size: size.parse().ok()?, shareable: memory == "shareable" };
    Some(player::play(play, Batches { operations: number, count: BATCHES }))
}

/// Whether what a path needs is here; says so if not.
fn is_possible(comparison: &Comparison) -> bool {
    #[cfg(feature = "verbs")]
    if paths::of(comparison).0 == paths::VERBS {
        let is_here = chare_lrts::verbs::devices().is_ok_and(|devices| !devices.is_empty());
        if !is_here {
            println!("skipped: {}: no RDMA device", comparison.name);
        }
        return is_here;
    }
    let starter = comparison.ours[5];
    starter == paths::ITSELF || launcher::is_here(starter)
}

/// Says for each path and each kind of ordinary argument from where on no row is slower.
fn conclude(comparisons: &[Comparison], ratios: &[f64]) {
    let measured: Vec<(&Comparison, f64)> = comparisons.iter().zip(ratios.iter().copied()).collect();
    let is_one_series = |one: &(&Comparison, f64), next: &(&Comparison, f64)| {
        paths::of(one.0).0 == paths::of(next.0).0 && one.0.against == next.0.against
    };
    for series in measured.chunk_by(is_one_series) {
        let (first, _) = series[0];
        let from = series.iter().rev().take_while(|(_, ratio)| *ratio <= NOISE).last();
        let from = from.map_or("at no size".to_owned(), |(row, _)| format!("from {} on", paths::of(row).1));
        println!("{}: nocopy is no slower than {} {from}", paths::of(first).0, first.against);
    }
}
