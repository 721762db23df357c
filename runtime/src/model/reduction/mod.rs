//! Reductions as values: what members contribute, how contributions become one, and what a PE counts of them while members come and go.
//!
//! 1. A member's n-th contribution belongs to the collection's n-th reduction; several may be under way.
//! 2. A PE folds what its members contribute (see [`Contributions`]); its partial goes to the node's first PE, and from there up
//!    a tree of nodes, whose root calls back (see `services/reduction.rs`).
//! 3. Inside a process values are folded as they are; only what crosses to another node is encoded.
//!
//! The messages that carry partials never stand here.

mod contributions;
mod partial;
pub(crate) mod reducers;
mod share;
mod telling;

pub(crate) use contributions::Contributions;
pub(crate) use partial::{CREATION, Partial, Partials, Tally};
pub(crate) use share::Share;
pub(crate) use telling::Telling;
