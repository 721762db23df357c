//! Doors for the fuzzers: bytes as a stranger or a peer could send them. Exists with the feature `fuzzing` alone and is no
//! part of the interface.

pub use crate::tcp::fuzzing::{accept, connect, frames, greet};
