//! What tests that run whole programs share.

mod program;

pub use program::{Outcome, Program};
