//! Models of the lock-free protocols of this crate, played in every order that the memory model allows. Never a copy of a protocol:
//! each plays the real one.
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p chare-lrts --lib --release --target-dir target-loom model::
//! ```

mod bell;
mod claim;
mod division;
mod needs_progress;
mod ring;
