//! Record of a balancing: the loads that the balancer looked at and the moves that it planned, as `+balance_dump` writes it.

use super::pes::Loads;
use crate::model::ids::PeId;
use serde::{Deserialize, Serialize};

/// A balancing of a job: what its balancer looked at, and what it planned. [`read_balancings`](crate::read_balancings) reads those of a job that ran
/// with `+balance_dump FILE`, to try other balancers on them.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BalanceRecord {
    /// Its number among those of the job, from 0 on.
    pub number: u64,
    /// The balancers that took turns, as `+balancer` named them.
    pub balancer: String,
    /// The loads before it.
    pub loads: Loads,
    /// The objects that it moved, by their numbers in [`Loads::objects`], and where to.
    pub moves: Vec<(usize, PeId)>,
    /// How many moves were refused.
    pub refused: u64,
    /// How much longer than the average the longest PE was to take after the moves; before them, [`Loads::imbalance`] says it.
    pub imbalance_after: f64,
}
