//! Reductions as values: the contributions of members, the reducers that fold them, and the counts that a PE keeps of contributions
//! while members come and go. Every member of a collection contributes once to a reduction, and one callback receives the result.
//!
//! 1. A member's n-th contribution belongs to the collection's n-th reduction; several may be under way.
//! 2. A PE folds the contributions of its members (see [`Contributions`]); its partial goes to the node's first PE, and from there up
//!    a tree of nodes, whose root calls back (see `services/reduction.rs`).
//! 3. Inside a process values are folded as they are; only values that cross to another node are encoded.
//!
//! The messages that carry partials never stand here: see `services/reduction.rs`.

mod contributions;
#[cfg(test)]
mod every_order;
mod newborns;
pub(crate) mod on_node;
mod partial;
pub(crate) mod reducers;
mod share;
mod telling;

pub(crate) use contributions::{Contributions, NEWBORN};
pub(crate) use partial::{CREATION, Partial, Partials, Tally};
pub(crate) use share::Share;
pub(crate) use telling::{Begun, Telling};
