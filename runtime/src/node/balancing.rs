//! Balancing as a node is told of it: when balancers have their turns, what they look at, and where their plans are written down.

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
