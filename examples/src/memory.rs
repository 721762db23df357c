//! Memory of this process and of its host, as the system counts it: what a process shares with others counts for each.

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

/// What the host could give to programs without swapping, in bytes.
///
/// # Panics
/// As [`resident`].
pub fn available() -> u64 {
    told("/proc/meminfo", "MemAvailable:")
}

fn status(field: &str) -> u64 {
    told("/proc/self/status", field)
}

fn told(file: &str, field: &str) -> u64 {
    let lines = fs::read_to_string(file).expect("/proc is mounted");
    let told = lines.lines().find_map(|line| line.strip_prefix(field));
    let kibibytes = told.and_then(|told| told.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.expect("the system counts memory") << 10
}
