//! The end of a process whose threads still run: at once, and without exit handlers.
//!
//! Exit handlers of libraries (C's `atexit`, C++'s global destructors) take apart what threads in the middle of their work still use: the
//! process would crash, hang, or write nonsense on its way out. So none runs, but what was printed is written.

#![expect(clippy::disallowed_methods, reason = "the process ends although its threads run")]
#![expect(unsafe_code, reason = "calls C's fflush and _exit, which no safe crate offers")]

use std::io::Write;
use std::sync::mpsc;
use std::time::Duration;

/// How long what was printed has to be written: a thread may hold an output's lock for ever, because nobody reads what it writes.
const FLUSH_PATIENCE: Duration = Duration::from_millis(500);

/// Ends the process with this code after writing what Rust and C have buffered for its outputs, within half a second. No exit handler runs.
pub fn quit(code: u8) -> ! {
    let (flushed, is_flushed) = mpsc::channel();
    let flush = move || {
        // Nobody may be reading any more; the process ends all the same.
        let _ = std::io::stdout().flush();
        // SAFETY: null stands for all streams, each of which is locked by the call.
        unsafe { libc::fflush(std::ptr::null_mut()) };
        let _ = flushed.send(());
    };
    if std::thread::Builder::new().spawn(flush).is_ok() {
        let _ = is_flushed.recv_timeout(FLUSH_PATIENCE);
    }
    // SAFETY: it does not return, and touches no memory of this process.
    unsafe { libc::_exit(code.into()) }
}
