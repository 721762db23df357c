//! Collections as values: the blueprint of an array, a group or a nodegroup, the placement of its members, their homes, and the counts
//! of insertions.
//!
//! The table of the members that live on a PE never stands here: see `pe/places`.

mod blueprint;
mod info;
mod insertions;
mod placement;
mod placement_map;

pub(crate) use blueprint::{Blueprint, Elements};
pub(crate) use info::CollectionInfo;
#[cfg(test)]
pub(crate) use info::tests::{Dummy, dummies};
pub(crate) use insertions::Insertions;
pub use placement::{ArrayMap, MapRegistration, Placement};
pub(crate) use placement::{Bond, maps};
