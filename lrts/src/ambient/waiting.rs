//! Waiting of a thread for a processor: time in which it would have run and others did, as the kernel counts it for each thread.
//!
//! Linux keeps it in `/proc/thread-self/schedstat`: nanoseconds on a processor, nanoseconds of waiting for one, and how often it got one.
//! Time in which a thread sleeps, or waits for a device, is none of it. A read takes a microsecond; a clock of the thread's time on a
//! processor takes half of one, and could not tell sleep from waiting.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// Long enough for three numbers of 64 bits.
const LINE_BYTES: usize = 64;

/// What the kernel counts of one thread.
#[derive(Debug)]
pub struct Waiting(Option<File>);

impl Waiting {
    /// That of the thread that calls. A kernel that does not count says nothing: then nobody ever waits.
    pub fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// How long the thread has waited since it began. A driven thread never waits.
    pub fn so_far(&self) -> Duration {
        #[cfg(feature = "sim")]
        if super::driven::now_ns().is_some() {
            return Duration::ZERO;
        }
        let mut line = [0; LINE_BYTES];
        let read = self.0.as_ref().and_then(|file| file.read_at(&mut line, 0).ok());
        read.and_then(|bytes| parse(&line[..bytes])).unwrap_or_default()
    }
}

/// The second number of a line.
fn parse(line: &[u8]) -> Option<Duration> {
    let waited_ns = std::str::from_utf8(line).ok()?.split_ascii_whitespace().nth(1)?;
    waited_ns.parse().ok().map(Duration::from_nanos)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_number_of_the_line_counts() {
        assert_eq!(parse(b"834602302 9569237 41\n"), Some(Duration::from_nanos(9_569_237)));
        assert_eq!(parse(b"0 0 0\n"), Some(Duration::ZERO));
        assert_eq!((parse(b""), parse(b"1\n"), parse(b"1 x 1")), (None, None, None));
    }

    #[test]
    fn where_nothing_is_counted_nobody_waits() {
        assert_eq!(Waiting(None).so_far(), Duration::ZERO);
    }
}
