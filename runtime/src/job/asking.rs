//! Asking a job what waits in it: by `SIGUSR1`, to any of its processes.
//!
//! 1. A process takes the signal only if it does by default what the system does, which is to end. A program that ignores the signal or
//!    has a handler of its own when the job starts keeps that, and a handler that it sets later takes the place of this one.
//! 2. When the job is over, the signal does nothing any more.

#![expect(clippy::disallowed_methods, reason = "waits for signals of the process")]

use crate::base::dispositions;
use crate::node::Node;
use crate::services::survey;
use chare_lrts::events;
use rustix::process::Signal;
use signal_hook::iterator::{Handle, Signals};
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

/// Attention to the signal; it ends, and nothing holds the node for it any more, when this is dropped.
pub(super) struct Attention {
    handle: Handle,
    listener: Option<JoinHandle<()>>,
}

impl Drop for Attention {
    fn drop(&mut self) {
        self.handle.close();
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Answers the signal from now on, unless the program does that itself.
pub(super) fn attend(node: &Arc<Node>) -> Option<Attention> {
    if dispositions::of(Signal::USR1).is_some() {
        return None;
    }
    let cannot = |cause: &io::Error| events::warn(format_args!("SIGUSR1 is not answered: {cause}"));
    listen(node).inspect_err(cannot).ok()
}

fn listen(node: &Arc<Node>) -> io::Result<Attention> {
    let mut signals = Signals::new([Signal::USR1.as_raw()])?;
    let handle = signals.handle();
    let node = Arc::clone(node);
    let answer = move || signals.forever().for_each(|_| survey::request(&node));
    let listener = std::thread::Builder::new().name("signals".to_owned()).spawn(answer)?;
    Ok(Attention { handle, listener: Some(listener) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::dispositions::{Disposition, of};
    use std::sync::atomic::AtomicBool;

    #[test]
    fn a_handler_that_is_there_is_seen() {
        // No other test of this process uses the signal.
        assert_eq!(of(Signal::USR2), None);
        let heard = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(Signal::USR2.as_raw(), heard)
            .expect("it is a signal that may be handled");
        assert_eq!(of(Signal::USR2), Some(Disposition::Handled));
    }
}
