//! Signals that the launcher passes on instead of dying of them.

use crate::base::dispositions::{self, Disposition};
use rustix::process::Signal;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::spawn_local;

/// The signals that users and batch systems send.
const PASSED_ON: [Signal; 6] =
    [Signal::INT, Signal::TERM, Signal::HUP, Signal::QUIT, Signal::USR1, Signal::USR2];

/// Sends each signal that this process gets from here on to `heard`, except those it was told to ignore (`nohup`).
pub(super) fn listen(heard: &UnboundedSender<i32>) -> std::io::Result<()> {
    for passed_on in PASSED_ON {
        if dispositions::of(passed_on) == Some(Disposition::Ignored) {
            continue;
        }
        let number = passed_on.as_raw();
        let mut arrivals = signal(SignalKind::from_raw(number))?;
        let heard = heard.clone();
        spawn_local(async move { while arrivals.recv().await.is_some() && heard.send(number).is_ok() {} });
    }
    Ok(())
}
