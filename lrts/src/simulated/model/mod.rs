//! Models of a network: how long messages take, by rules instead of chance.

mod loggops;
#[cfg(test)]
mod schedule;

pub use loggops::{Kept, LogGops};
