//! A program of one's own in one process: how many crates its first build takes.

use std::collections::BTreeSet;
use std::process::Command;

/// `chare` itself and all that it needs.
const CRATES_MAX: usize = 61;

/// The crates that `chare` with these features is built of.
fn crates(features: &str) -> BTreeSet<String> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    cargo.args("tree --locked --offline --package chare --edges normal --prefix none --no-dedupe".split(' '));
    let output = cargo.args(features.split(' ')).output().expect("cargo runs");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    said.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn a_program_in_one_process_needs_no_network_and_no_command_line() {
    let least = crates("--no-default-features");
    assert!(least.len() <= CRATES_MAX, "{} crates: {least:?}", least.len());
    for absent in ["aes-gcm", "clap", "curve25519-dalek", "graviola", "nix", "snow"] {
        assert!(!least.contains(absent), "{absent} is of the features `net` and `launch`");
    }
    println!(
        "{} crates without features, {} with those of default",
        least.len(),
        crates("--features net").len()
    );
}
