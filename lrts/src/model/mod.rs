//! The lock-free protocols of this crate, played in every order that the memory model allows.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p chare-lrts --lib --release --target-dir target-loom model::
//! ```

mod bell;
mod claim;
mod needs_progress;
mod ring;
