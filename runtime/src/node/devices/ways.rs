//! Ways of device arguments, counted for each device: what `+stats` prints of it.

use crate::base::counters::Counter;
use chare_device::Method;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

/// How arguments have gone from a device and to it, on one node. Any thread counts.
#[derive(Default)]
pub(crate) struct Ways {
    /// Handed over as they are, within the process or as a view of another one's.
    pub(crate) handed: Counter,
    /// Copied by one step from layout to layout.
    pub(crate) stepped: Counter,
    /// Those of the former two that lay in memory of another process, on this device.
    pub(crate) mapped: Counter,
    /// Those that were stepped from memory of another device of the host, by this one alone.
    pub(crate) peers: Counter,
    /// Read by the network alone, from device to device.
    pub(crate) direct: Counter,
    /// Sent along with their calls, because they were short.
    pub(crate) short: Counter,
    /// Times that steps were launched, each time all that one PE had.
    pub(crate) launches: Counter,
    pub(crate) out: Chunks,
    pub(crate) into: Chunks,
}

/// Chunks of pinned memory in one direction.
#[derive(Default)]
pub(crate) struct Chunks {
    /// By the number of the method that packed or unpacked them.
    counts: [Counter; Method::ALL.len()],
    bytes: Counter,
    /// Bytes of the longest; raised by who counts, read at the end.
    longest: AtomicU64,
}

impl Chunks {
    /// Counts one of so many bytes.
    pub(crate) fn add(&self, method: Method, bytes: u64) {
        self.counts[method as usize].add_shared(1);
        self.bytes.add_shared(bytes);
        self.longest.fetch_max(bytes, Ordering::Relaxed);
    }
}

impl fmt::Display for Chunks {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: u64 = self.counts.iter().map(Counter::read).sum();
        write!(out, "{all} ({} bytes", self.bytes.read())?;
        for (method, count) in Method::ALL.into_iter().zip(&self.counts).filter(|(_, count)| count.read() > 0)
        {
            write!(out, "; {method}: {}", count.read())?;
        }
        match self.longest.load(Ordering::Relaxed) {
            0 => out.write_str(")"),
            longest => write!(out, "; longest {longest} bytes)"),
        }
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            &self.handed,
            &self.stepped,
            &self.mapped,
            &self.peers,
            &self.direct,
            &self.short,
            &self.launches,
        ];
        let [handed, stepped, mapped, peers, direct, short, launches] = counts.map(Counter::read);
        let (sent, taken) = (&self.out, &self.into);
        write!(
            out,
            "handed over {handed}  stepped {stepped}  mapped {mapped}  peers {peers}  direct {direct}  short {short}  launches {launches}  chunks out {sent}  chunks in {taken}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn methods_that_were_used_are_named_and_counted() {
        let ways = Ways::default();
        ways.launches.add_shared(2);
        ways.out.add(Method::Packed, 100);
        ways.out.add(Method::Packed, 50);
        ways.out.add(Method::Rows, 7);
        let said = ways.to_string();
        assert!(
            said.contains("launches 2  chunks out 3 (157 bytes; packed on the device, then copied: 2; "),
            "{said}"
        );
        assert!(said.ends_with("a copy of rows: 1; longest 100 bytes)  chunks in 0 (0 bytes)"), "{said}");
    }
}
