//! Ways of device arguments, counted for each device: what `+stats` prints of it.

use crate::base::counters::Counter;
use std::fmt;

/// How arguments have gone from a device and to it, on one node. Any thread counts.
#[derive(Default)]
pub(crate) struct Ways {
    /// Handed over as they are, within the process or as a view of another one's.
    pub(crate) handed: Counter,
    /// Copied by one step from layout to layout.
    pub(crate) stepped: Counter,
    /// Those of the former two that lay in memory of another process.
    pub(crate) mapped: Counter,
    pub(crate) out: Chunks,
    pub(crate) into: Chunks,
}

/// Chunks of pinned memory in one direction.
#[derive(Default)]
pub(crate) struct Chunks {
    count: Counter,
    bytes: Counter,
}

impl Chunks {
    /// Counts one of so many bytes.
    pub(crate) fn add(&self, bytes: usize) {
        self.count.add_shared(1);
        self.bytes.add_shared(bytes as u64);
    }
}

impl fmt::Display for Chunks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} ({} bytes)", self.count.read(), self.bytes.read())
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [handed, stepped, mapped] = [&self.handed, &self.stepped, &self.mapped].map(Counter::read);
        let (sent, taken) = (&self.out, &self.into);
        write!(
            out,
            "handed over {handed}  stepped {stepped}  mapped {mapped}  chunks out {sent}  chunks in {taken}"
        )
    }
}
