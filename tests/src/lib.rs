//! What several tests and `cargo xtask` share.

pub mod chaos;
mod family;
mod program;
mod running;

pub use family::{Family, wait_for_end};
pub use program::Program;
pub use running::{Outcome, Running};
