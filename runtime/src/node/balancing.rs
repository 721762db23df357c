//! Balancing as a node is told of it: when balancers have their turns, what they look at, and where their plans are written down; and its
//! history, on the node that plans: what each balancing was told of the PEs, and how many elements it moved.

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// When a balancer has its turn.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum BalanceWhen {
    /// At every sync, and whenever the time of `+balance_every` has come.
    #[default]
    Always,
    /// Then, if that is likely to gain more than the balancing costs, by what the last ones have gained and cost.
    Auto,
}

/// What a node is told of balancing, beside the balancer's name.
#[derive(Clone, Default, Debug)]
pub(crate) struct Balancing {
    /// How often the balancer has a turn without a sync, if it has.
    pub(crate) every: Option<Duration>,
    /// When it has its turn.
    pub(crate) when: BalanceWhen,
    /// The file that what each balancing has looked at and planned is written to.
    pub(crate) dump: Option<Arc<Path>>,
    /// Whether it looks at who calls whom.
    pub(crate) samples_calls: bool,
}

/// The balancings that are remembered: some minutes of a job that balances every few seconds.
const ROUNDS_MAX: usize = 64;

/// One balancing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct BalancingFigures {
    /// Its number in the job.
    pub(crate) number: u64,
    /// What was measured of each PE, in seconds, or as the program's elements say, before the moves.
    pub(crate) loads: Vec<f64>,
    /// The elements that were to move.
    pub(crate) moves: u64,
}

/// The last balancings; any thread reads them.
#[derive(Default)]
pub(crate) struct BalancingHistory(Mutex<VecDeque<BalancingFigures>>);

impl BalancingHistory {
    /// Adds one, and forgets the oldest if there are too many.
    pub(crate) fn add(&self, balancing: BalancingFigures) {
        let mut all = self.0.lock();
        if all.len() == ROUNDS_MAX {
            all.pop_front();
        }
        all.push_back(balancing);
    }

    /// Those that are remembered, the last one at the end.
    pub(crate) fn all(&self) -> Vec<BalancingFigures> {
        self.0.lock().iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_ones_are_remembered() {
        let history = BalancingHistory::default();
        for number in 0..ROUNDS_MAX as u64 + 3 {
            history.add(BalancingFigures { number, loads: vec![0.5], moves: 0 });
        }
        let all = history.all();
        assert_eq!((all.len(), all[0].number), (ROUNDS_MAX, 3));
    }
}
