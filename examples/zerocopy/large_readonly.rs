//! How do large values that never change reach every process? Charm++'s example `zerocopy/large_readonly`.
//!
//! `main` sets two large readonly values; every element of an array finds them whole in its constructor.
//!
//! ```text
//! cargo run --release --example large_readonly -- +n 2 +p 2
//! ```

use chare::prelude::*;
use chare_examples::ports::{self, assert_indices, indices};
use clap::Parser;
use std::process::ExitCode;

/// Sets large readonly values and reads them everywhere.
#[derive(Parser)]
#[command(name = "large_readonly", no_binary_name = true)]
struct Options {
    /// Numbers of each value
    #[arg(default_value_t = 2_000_000)]
    len: usize,
}

struct Element;

#[chare(array)]
impl Element {
    #[entry]
    fn new(len: usize, done: Callback<()>) -> Self {
        for values in [&chare::readonly::<Vec<i32>>()[..], &chare::readonly::<Buffer<i32>>()[..]] {
            assert_eq!(values.len(), len);
            assert_indices(values, 0);
        }
        Self.contribute(barrier(), done);
        Self
    }
}

fn main() -> ExitCode {
    ports::run(|Options { len }| async move {
        chare::set_readonly(indices(len));
        chare::set_readonly(Buffer::from(BufferMut::from_fn(len, |position| position as i32)));
        let (all_done, done) = chare::future();
        ElementProxy::create(u64::from(chare::pes()) * 2, len, done);
        all_done.await;
        println!("Verified successful readonly transfer");
    })
}
