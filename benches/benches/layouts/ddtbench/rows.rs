//! Rows of kernels: each in each of its sizes, against each peer; and what they come to.

use super::{PREFIX, subjects};
use crate::messages::rows::{BY_HAND, beside};
use crate::row::beside_best;
use chare_benches::Comparison;

/// The beginning of the names of these rows.
const NAMES: &str = "ddtbench ";

/// How many times the time of the best peer a row may take that is not named.
const ENOUGH: f64 = 1.05;

pub(crate) fn all() -> Vec<Comparison> {
    let kernels = subjects();
    let rows = kernels.iter().enumerate().flat_map(|(number, kernel)| {
        beside(&format!("{NAMES}{kernel:?}"), &format!("{PREFIX}{number}"), &[BY_HAND])
    });
    rows.collect()
}

/// Says how much quicker kernels are than by the best MPI and by hand, and names those that are not.
pub(crate) fn conclude(rows: &[Comparison], ratios: &[f64]) {
    let kernels = || rows.iter().zip(ratios).filter(|(row, _)| row.name.starts_with(NAMES));
    let by_hand = beside_best(kernels().filter(|(row, _)| row.against == BY_HAND.0));
    let by_mpi = beside_best(kernels().filter(|(row, _)| row.against != BY_HAND.0));
    for (peer, best) in [("by hand", by_hand), ("by the best MPI", by_mpi)] {
        if best.is_empty() {
            continue;
        }
        let logarithms: f64 = best.values().map(|(ratio, _)| ratio.ln()).sum();
        let mean = (-logarithms / best.len() as f64).exp();
        println!(
            "{NAMES}beside as much {peer}: {mean:.2} times quicker, geometric mean of {} rows",
            best.len()
        );
        for (name, (ratio, against)) in best.iter().filter(|(_, (ratio, _))| *ratio > ENOUGH) {
            println!("  {name}: {ratio:.2} of {against}");
        }
    }
}
