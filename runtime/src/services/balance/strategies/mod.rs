//! Strategies of balancing, each a function of [`Loads`] that plans [`Moves`]: no job, no clock; chance only in one for tests.
//!
//! | strategy | who moves | looks at |
//! |---|---|---|
//! | [`greedy`] | nearly everybody | loads |
//! | [`refine`] | what is too much | loads, bytes of state |
//! | [`hilbert`], [`rcb`] | what is in another part of space than before | loads, positions |
//! | [`bisect`] | who calls others than before | loads, calls |
//! | [`diffuse`] | what is too much, to whom it calls; who is called from elsewhere | loads, calls |
//! | [`rotate`], [`random`] | everybody | nothing |
//!
//! 1. All but those for tests work on two levels: nodes, then the PEs of each ([`level`]).
//! 2. No node gets more than it has room for.
//! 3. A plan that does not gain what it is for is dropped ([`worth`]): nothing moves where all is even, and the longest PE never becomes
//!    longer, but for the tolerance within which `bisect` and `diffuse` bring together who calls whom.

mod bisect;
mod chains;
mod curve;
mod cut;
mod diffuse;
mod domain;
mod exchange;
mod flow;
mod graph;
mod greedy;
mod grouped;
mod halves;
mod hilbert;
mod ledger;
mod level;
mod lightest;
mod mesh;
mod partition;
mod placement;
mod positioned;
mod random;
mod rcb;
mod refine;
mod relabel;
mod rotate;
mod shed;
#[cfg(test)]
mod tests;
mod worth;

use crate::model::loads::{Loads, Moves};
use crate::model::registry::BalancerRegistration;
use worth::Worth;

/// A strategy, with what its name was followed by.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Strategy {
    Greedy,
    GreedyRefine {
        tolerance: f64,
    },
    Hilbert,
    Rcb,
    Bisect {
        tolerance: f64,
    },
    Diffuse {
        tolerance: f64,
    },
    Rotate,
    Random {
        seed: Option<u64>,
    },
    /// A function of the program.
    Own(&'static BalancerRegistration),
}

impl Strategy {
    /// Whether it looks at who calls whom.
    pub(crate) fn needs_edges(self) -> bool {
        match self {
            Self::Bisect { .. } | Self::Diffuse { .. } => true,
            Self::Own(balancer) => balancer.needs_edges,
            _ => false,
        }
    }

    /// Plans moves. None if they are not worth it.
    pub(crate) fn plan(self, loads: &Loads) -> Moves {
        let mut moves = Moves::new(loads);
        let worth = match self {
            Self::Greedy => {
                greedy::greedy(loads, &mut moves);
                Worth::MuchShorter
            }
            Self::GreedyRefine { tolerance } => {
                refine::greedy_refine(loads, &mut moves, tolerance);
                Worth::Shorter
            }
            Self::Hilbert => {
                hilbert::hilbert(loads, &mut moves);
                Worth::MuchShorter
            }
            Self::Rcb => {
                rcb::rcb(loads, &mut moves);
                Worth::MuchShorter
            }
            Self::Bisect { tolerance } => {
                bisect::bisect(loads, &mut moves, tolerance);
                // Everything is divided anew, and one division is as good as another one.
                Worth::Calls { tolerance, gain_min: 0.1 }
            }
            Self::Diffuse { tolerance } => {
                diffuse::diffuse(loads, &mut moves, tolerance);
                Worth::Calls { tolerance, gain_min: 0.01 }
            }
            Self::Rotate => {
                rotate::rotate(loads, &mut moves);
                Worth::Moves
            }
            Self::Random { seed } => {
                random::random(loads, &mut moves, seed);
                Worth::Moves
            }
            Self::Own(balancer) => {
                (balancer.plan)(loads, &mut moves);
                Worth::Moves
            }
        };
        if worth.is_reached(loads, &moves) { moves } else { Moves::new(loads) }
    }
}
