//! Waiting for a socket to be readable, until a deadline.

#![expect(clippy::disallowed_methods, reason = "sockets are waited for in real time")]

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::AsFd;
use rustix::io::Errno;
use std::io;
use std::time::Instant;

/// Blocks until there is something to read, or nothing will come any more.
///
/// # Errors
/// [`io::ErrorKind::TimedOut`] at the deadline.
pub(super) fn wait_readable(socket: impl AsFd, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec {
            tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match rustix::event::poll(&mut [PollFd::new(&socket, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return Err(io::Error::new(io::ErrorKind::TimedOut, "it did not come in time")),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}
