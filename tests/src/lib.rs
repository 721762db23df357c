//! What several tests and `cargo xtask` share.

pub mod chaos;
pub mod denial;
mod program;

pub use program::{Outcome, Program};
