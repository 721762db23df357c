//! What several tests and `cargo xtask` share.

pub mod chaos;
