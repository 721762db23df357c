//! Kinds of chares: singleton, array, group and nodegroup, as types for bounds.

use crate::model::ids::{NodeId, PeId};

/// One chare, placed where it was created or where the creator said.
#[derive(Debug)]
pub enum Singleton {}
/// Many chares with an index, placed by a [`Placement`](crate::Placement).
#[derive(Debug)]
pub enum Array {}
/// One chare per PE.
#[derive(Debug)]
pub enum Group {}
/// One chare per node.
#[derive(Debug)]
pub enum NodeGroup {}

/// A kind whose chares are members of a collection.
pub trait Collective {}
impl Collective for Array {}
impl Collective for Group {}
impl Collective for NodeGroup {}

/// A kind with one member on the PE or the node of every caller.
pub trait Local: Collective {
    #[doc(hidden)]
    fn here(pe: PeId, node: NodeId) -> u64;
}
impl Local for Group {
    fn here(pe: PeId, _: NodeId) -> u64 {
        u64::from(pe.0)
    }
}
impl Local for NodeGroup {
    fn here(_: PeId, node: NodeId) -> u64 {
        u64::from(node.0)
    }
}
