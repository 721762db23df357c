//! Memory of this process, as the system counts it: what it shares with others counts for each.

use std::fs;

/// What it has now, in bytes.
///
/// # Panics
/// Where `/proc` is not mounted.
pub fn resident() -> u64 {
    status("VmRSS:")
}

/// The most that it has had so far, in bytes.
///
/// # Panics
/// As [`resident`].
pub fn most_resident() -> u64 {
    status("VmHWM:")
}

fn status(field: &str) -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let told = status.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = told.and_then(|told| told.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.expect("a process has a resident set") << 10
}
