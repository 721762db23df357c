//! Memory per element: the bytes that an idle element of an array takes.
//!
//! Creates an array of empty chares on one PE and prints by how much the resident set of the process grew, per element.
//! `cargo bench -p chare-benches --bench memory -- 1000000`

use chare::prelude::*;
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
        let before = resident_bytes();
        let _array = EmptyProxy::create(elements);
        chare::quiescence().await;
        let grown = resident_bytes().saturating_sub(before);
        println!("{elements} empty chares: {:.1} bytes each", grown as f64 / elements as f64);
        chare::exit(0);
    })
}

/// The memory of this process that is in use, from the kernel's own count.
fn resident_bytes() -> u64 {
    let status =
        std::fs::read_to_string("/proc/self/status").expect("Linux tells every process about itself");
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("a process has a resident set");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number of kB");
    kibibytes * 1024
}
