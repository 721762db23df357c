//! Arrays, groups and nodegroups as values: what is said when one is created, and the home of each of its members.
//!
//! Which members live on a PE never stands here.

mod blueprint;
mod info;
mod insertions;
mod placement;
mod placement_map;

pub(crate) use blueprint::{Blueprint, Elements};
pub(crate) use info::CollectionInfo;
#[cfg(test)]
pub(crate) use info::tests::Dummy;
pub(crate) use insertions::Insertions;
pub use placement::{ArrayMap, MapRegistration, Placement};
pub(crate) use placement::{Bond, maps};
