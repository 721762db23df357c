//! What several tests and `cargo xtask` share.

pub mod chaos;
mod program;
#[cfg(feature = "ofi")]
mod providers;

pub use program::{Outcome, Program};
#[cfg(feature = "ofi")]
pub use providers::providers;
