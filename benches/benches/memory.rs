//! Memory per element: the bytes that an idle element of an array takes.
//!
//! Creates an array of empty chares on one PE and prints by how much the resident set of the process grew, per element.
//! `cargo bench -p chare-benches --bench memory -- 1000000`

use chare::prelude::*;
use chare_examples::memory::resident;
use std::process::ExitCode;

/// A chare without state.
struct Empty;

#[chare(array)]
impl Empty {
    #[entry]
    fn new() -> Self {
        Self
    }
}

fn main() -> ExitCode {
    chare::run(|arguments| async move {
        let given = arguments.iter().find_map(|argument| argument.parse().ok());
        let elements: u64 = given.unwrap_or(1_000_000);
        let before = resident();
        let _array = EmptyProxy::create(elements);
        chare::quiescence().await;
        let grown = resident().saturating_sub(before);
        println!("{elements} empty chares: {:.1} bytes each", grown as f64 / elements as f64);
        chare::exit(0);
    })
}
