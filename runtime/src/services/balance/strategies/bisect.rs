//! Bisection of the graph of calls: who calls whom is brought together, with as much work for everyone.

use super::cut::gather;
use super::graph::Calls;
use super::ledger::settle;
use super::level::{Level, by_levels};
use super::partition::partition;
use super::refine::refine;
use super::relabel::relabel;
use crate::model::loads::{Loads, Moves};

/// Spreads all objects anew, by who calls whom, so that no PE takes longer than `tolerance` times the average: `O((n + e) log p)` for `n` objects, `e`
/// edges and `p` PEs. Where nobody calls anyone it refines.
pub(super) fn bisect(loads: &Loads, moves: &mut Moves, tolerance: f64) {
    let calls = Calls::new(loads);
    by_levels(loads, moves, Some(&calls), |level| spread(level, level.limit(tolerance)));
}

fn spread(level: &Level, limit: f64) -> Vec<u32> {
    let mut places = level.places();
    if !level.graph.is_empty() {
        places = partition(level, limit);
        relabel(level, &mut places);
        if settle(level, &mut places) {
            places = gather(level, &places, limit);
        }
    }
    refine(level, places, limit)
}
