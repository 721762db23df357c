//! Models of a network: how long messages take, by rules instead of chance.

mod loggops;
mod network;
#[cfg(test)]
mod schedule;
mod shape;
mod traffic;

pub use loggops::{Kept, LogGops};
pub use network::Network;
pub use shape::Shape;
pub(super) use traffic::Traffic;
