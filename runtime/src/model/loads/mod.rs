//! Loads: how much work lies on which PE, what of it may move, and where it is planned to move.
//!
//! ```text
//! Measured  -- checked, sorted by PE, bonds united -->  Loads  -- a balancer -->  Moves
//! ```
//! 1. Objects of a PE follow each other, so an object's number says nothing beyond one set of loads.
//! 2. What is bound to each other is one object.
//! 3. A load is time on a PE of speed 1. What PEs are compared by is their own time: work by speed.

mod error;
mod measured;
mod moves;
mod object;
mod pes;
#[cfg(test)]
mod tests;
mod tournament;

pub use error::LoadsError;
pub use measured::Measured;
pub use moves::{BalanceRecord, Moves};
pub use object::{Edge, Object};
pub use pes::Loads;
pub(crate) use tournament::Tournament;
