//! Reductions as values: the contributions of members, the reducers that fold them, and the counts that a PE keeps of contributions
//! while members come and go. Every member of a collection contributes once to a reduction, and one callback receives the result.
//!
//! 1. Reductions are told apart by their callbacks; a member's n-th contribution with a callback belongs to the collection's n-th reduction
//!    with it. Several may be under way. See [`Contributions`] for all the rules.
//! 2. A PE folds the contributions of its members; its partial goes to the node's first PE (see [`Gathering`]), and from there up a tree
//!    of nodes, whose root calls back (see `services/reduction.rs`).
//! 3. Inside a process values are folded as they are; only values that cross to another node are encoded.
//!
//! The messages that carry partials never stand here: see `services/reduction.rs`.

mod contributions;
#[cfg(test)]
mod every_order;
mod gathering;
mod line;
mod newborns;
mod partial;
pub(crate) mod reducers;
mod share;
mod statements;

pub(crate) use contributions::{Closed, Contributions, Refusal};
pub(crate) use gathering::{Gathering, Statement};
pub(crate) use partial::{Name, Partial};
pub(crate) use share::Share;
pub(crate) use statements::Begun;
