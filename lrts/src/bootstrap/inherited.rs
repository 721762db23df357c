//! Inherited sockets: takes over a socket that a launcher left to this process and named in the environment.
//!
//! It arrives without close-on-exec and gets it here. So it is taken once, a file that this process opened itself is never
//! mistaken for it, and no child of the program inherits it.

#![expect(unsafe_code, reason = "takes over a descriptor that an environment variable names")]

use parking_lot::Mutex;
use rustix::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};
use rustix::fs::FileType;
use rustix::io::FdFlags;

/// Serialises taking over a descriptor: two threads must not both believe that they were first.
static TAKING: Mutex<()> = Mutex::new(());

/// Takes over an inherited socket that `is_it` recognises, if it is there and nobody took it before.
pub(super) fn take_socket(descriptor: RawFd, is_it: impl FnOnce(BorrowedFd<'_>) -> bool) -> Option<OwnedFd> {
    if descriptor < 3 {
        return None;
    }
    let _first = TAKING.lock();
    // SAFETY: only asks about the number, at once; for a number that is not open the kernel answers with an error.
    let allegation = unsafe { BorrowedFd::borrow_raw(descriptor) };
    let flags = rustix::io::fcntl_getfd(allegation).ok()?;
    let found = rustix::fs::fstat(allegation).ok()?;
    let is_socket = FileType::from_raw_mode(found.st_mode) == FileType::Socket;
    if flags.contains(FdFlags::CLOEXEC) || !is_socket || !is_it(allegation) {
        return None;
    }
    rustix::io::fcntl_setfd(allegation, FdFlags::CLOEXEC).ok()?;
    // SAFETY: a socket that this process inherited (it had no close-on-exec flag, which everything this process opens has) and that
    // the launcher named; the flag, tested and set under the lock, proves that nobody took it before.
    Some(unsafe { OwnedFd::from_raw_fd(descriptor) })
}
