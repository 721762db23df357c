//! Errors of loads: measurements that cannot be.

use crate::model::ids::PeId;
use thiserror::Error;

/// Measurements that cannot be, in words.
#[derive(Debug, Error, Clone, PartialEq)]
#[non_exhaustive]
pub enum LoadsError {
    /// There is no PE, or there are more than can be counted.
    #[error(
        "{nodes} nodes of {pes_per_node} PEs are no job: give at least one of each, and fewer than 2^32 PEs"
    )]
    Machine {
        /// How many nodes there are.
        nodes: usize,
        /// How many PEs each of them has.
        pes_per_node: u32,
    },
    /// There is not one value for each node or PE.
    #[error("`{field}` has {found} values for {expected} {of}: give one for each")]
    Count {
        /// The field of `Measured`.
        field: &'static str,
        /// What it has a value for.
        of: &'static str,
        /// How many values there are.
        found: usize,
        /// How many there are to be.
        expected: usize,
    },
    /// A number is not what it may be.
    #[error("{what} {number} is {found}: it is to be {bound}")]
    Number {
        /// What is measured.
        what: &'static str,
        /// The number of the PE or object.
        number: usize,
        /// What was given.
        found: f64,
        /// What it may be.
        bound: &'static str,
    },
    /// The objects have more bytes than can be counted.
    #[error("the objects have 2^64 bytes or more: no memory holds them")]
    Bytes,
    /// An object is where no PE is.
    #[error("object {object} is on {at}, and the job has {pes} PEs")]
    NoSuchPe {
        /// The object's number, as given.
        object: usize,
        /// Where it is said to be.
        at: PeId,
        /// How many PEs there are.
        pes: u32,
    },
    /// An edge leads to an object that is not there.
    #[error("edge {edge} is of object {object}, and there are {objects} objects")]
    NoSuchObject {
        /// The edge's number.
        edge: usize,
        /// The object that it names.
        object: usize,
        /// How many there are.
        objects: usize,
    },
    /// What is bound is not together.
    #[error("objects of bond {bond} are on {one} and on {other}: what is bound lives on one PE")]
    Bond {
        /// The bond.
        bond: u32,
        /// Where one of them is.
        one: PeId,
        /// Where another one is.
        other: PeId,
    },
}
