//! Example programs of `chare`; each answers one question and checks its own answer.
//!
//! | program | question |
//! |---|---|
//! | `hello` | How does a program of chares look? |
//! | `ring` | How does an array of chares pass messages around? |
//! | `fib` | How are chares created on the fly, and how do they answer? |
//! | `jacobi2d` | How does a stencil code exchange halos without copying them twice? |
//! | `pingpong` | How long does a buffer take from one PE to another, by every way there is? |
//!
//! Run one with `cargo run --release --example hello -- +n 2 +p 3`: two processes with three PEs each. A program exits with 0
//! only if its check passes.

pub mod ports;
