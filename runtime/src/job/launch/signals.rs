//! Signals that the launcher passes on instead of dying of them.

use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_local;

/// The signals that users and batch systems send.
const PASSED_ON: [Signal; 6] =
    [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

/// Sends each signal that this process gets from here on to `heard`, except those it was told to ignore (`nohup`).
pub(super) fn listen(heard: &UnboundedSender<i32>) -> std::io::Result<()> {
    let ignored = ignored();
    for number in PASSED_ON.map(Signal::as_raw) {
        if ignored & (1 << (number - 1)) != 0 {
            continue;
        }
        let mut arrivals = signal(SignalKind::from_raw(number))?;
        let heard = heard.clone();
        spawn_local(async move { while arrivals.recv().await.is_some() && heard.send(number).is_ok() {} });
    }
    Ok(())
}

/// The set of ignored signals; empty if the kernel does not tell.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
