//! Dispositions of signals in this process, as the kernel tells them.

use rustix::process::Signal;

/// What a process does with a signal unless it does what the system does by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Disposition {
    /// It ignores the signal.
    Ignored,
    /// It has a handler for the signal.
    Handled,
}

/// The disposition of a signal in this process; `None`: the system's default, or the kernel does not tell.
pub(crate) fn of(signal: Signal) -> Option<Disposition> {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let is_in = |field: &str| {
        let mask = status.lines().find_map(|line| line.strip_prefix(field));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
        mask & (1 << (signal.as_raw() - 1)) != 0
    };
    if is_in("SigIgn:") {
        Some(Disposition::Ignored)
    } else {
        is_in("SigCgt:").then_some(Disposition::Handled)
    }
}
