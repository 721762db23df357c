//! Final error: what a process says when MPI or its launcher ends it. Of a job that loses a process they end the others, often before
//! these have noticed the loss.
//!
//! 1. Two signals are heard, SIGTERM (of launchers) and SIGABRT (of MPIs that give up), where nobody hears them already. A process
//!    says one prepared line and ends as it would have without.
//! 2. Once the job is over on this node, nothing is said when the process is ended.

#![expect(unsafe_code, reason = "handles signals")]

use std::ffi::c_int;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

const SIGNALS: [c_int; 2] = [libc::SIGTERM, libc::SIGABRT];

/// Said by the handler, which must not allocate.
static MESSAGE: OnceLock<String> = OnceLock::new();

/// Whether the job runs here still. Written at the job's end, read by the handler; nothing is ordered by it.
static IS_RUNNING: AtomicBool = AtomicBool::new(true);

extern "C" fn say(signal: c_int) {
    if IS_RUNNING.load(Ordering::Relaxed)
        && let Some(message) = MESSAGE.get()
    {
        // SAFETY: `write` may be called in a handler; the message stays for ever.
        unsafe { libc::write(libc::STDERR_FILENO, message.as_ptr().cast(), message.len()) };
    }
    // SAFETY: both may be called in a handler. The signal comes again when this one returns, and ends the process.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// Has this process say so if MPI or its launcher ends it.
pub(super) fn prepare(rank: u32) {
    MESSAGE.get_or_init(|| {
        format!("node {rank} was ended by MPI or its launcher, as happens when another process of the job has gone\n")
    });
    for signal in SIGNALS {
        // SAFETY: plain structures of the C library, for which zeros are a value; the handler does only what handlers may.
        unsafe {
            let mut before: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &raw mut before) == 0
                && before.sa_sigaction == libc::SIG_DFL
            {
                let mut action: libc::sigaction = std::mem::zeroed();
                action.sa_sigaction = say as extern "C" fn(c_int) as usize;
                libc::sigaction(signal, &raw const action, std::ptr::null_mut());
            }
        }
    }
}

/// The job is over here.
pub(super) fn forget() {
    IS_RUNNING.store(false, Ordering::Relaxed);
}
