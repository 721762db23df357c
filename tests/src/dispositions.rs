//! Dispositions of signals of a program under test: those that a terminal gives. A test runner that was started in the background or
//! by `nohup` ignores some, and its children would, too.

#![expect(unsafe_code, reason = "runs code between fork and exec")]

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The signals that shells and `nohup` have ignored.
const IGNORED_AT_TIMES: [i32; 4] = [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM];

/// Lets the program begin as if a terminal had started it.
pub(crate) fn reset(command: &mut Command) {
    let to_default = || {
        for signal in IGNORED_AT_TIMES {
            // SAFETY: no handler is installed, and the call is safe between fork and exec (signal-safety(7)).
            if unsafe { libc::signal(signal, libc::SIG_DFL) } == libc::SIG_ERR {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    };
    // SAFETY: `to_default` makes system calls; it allocates nothing and takes no lock.
    unsafe { command.pre_exec(to_default) };
}
