//! Objects that a balancer places, and the edges between them: who calls whom.

use crate::model::ids::PeId;
use serde::{Deserialize, Serialize};

/// An object that takes time on a PE: an element of an array, or several that are bound to each other.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Object {
    /// The PE on which it is.
    pub at: PeId,
    /// The seconds that it takes on a PE of speed 1; not negative.
    pub load: f64,
    /// The bytes that travel if it moves to another node: its state, what that owns, and the calls that wait with it.
    pub bytes: u64,
    /// Whether it may move at all.
    pub may_move: bool,
    /// Where it is in the space that the program computes, if it says so.
    pub position: Option<[f64; 3]>,
    /// The array whose element it is: a number of its own for each array.
    pub array: u32,
    /// What binds it to others. Those of one bond are on one PE, and are one object of [`Loads`](crate::Loads).
    pub bond: Option<u32>,
}

impl Object {
    /// One that may move, without bytes and position, of array 0.
    pub fn new(at: PeId, load: f64) -> Self {
        Self { at, load, bytes: 0, may_move: true, position: None, array: 0, bond: None }
    }
}

/// What one object has called another one since the last balancing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The number of the caller.
    pub from: usize,
    /// The number of the one that was called.
    pub to: usize,
    /// The bytes of the calls.
    pub bytes: u64,
    /// How many calls there were.
    pub calls: u64,
}
