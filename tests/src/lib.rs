//! What several tests and `cargo xtask` share.

pub mod chaos;
mod program;

pub use program::{Outcome, Program};
