//! Test support that several tests and `cargo xtask` share.

#[cfg(feature = "dashboard")]
mod browser;
pub mod chaos;
mod dispositions;
mod family;
mod launcher;
mod program;
mod running;
mod seat;
mod stats;

#[cfg(feature = "dashboard")]
pub use browser::Browser;
pub use family::{Family, wait_for_end};
pub use launcher::{Launcher, find};
pub use program::Program;
pub use running::{Outcome, Running};
pub use seat::{Seat, own_processors};
pub use stats::{Row, counted};

/// The providers of libfabric among `wanted` that are here; a line says what is skipped where there is no libfabric at all.
#[cfg(feature = "ofi")]
pub fn providers(wanted: &[&'static str], what: &str) -> Vec<&'static str> {
    let here = chare_lrts::ofi::providers().unwrap_or_else(|why| {
        println!("skipped: {what} over libfabric: {why}");
        Vec::new()
    });
    wanted.iter().copied().filter(|one| here.iter().any(|name| name == one)).collect()
}

/// A number of this process in `/proc/self/status`, such as `VmRSS:`, in bytes.
///
/// # Panics
/// If the kernel does not count it.
pub fn status(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("the kernel counts it");
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").parse().expect("a number");
    kibibytes << 10
}
