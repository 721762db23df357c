//! Counters of each PE, read when the job ends: the numbers that `+stats` prints.

use std::sync::atomic::{AtomicU64, Ordering};

/// A counter that one thread writes and others may read.
#[derive(Default, Debug)]
pub(crate) struct Counter(AtomicU64);

impl Counter {
    /// Adds to the counter. Only its one writer calls this, so no atomic read-modify-write is needed.
    #[inline]
    pub(crate) fn add(&self, amount: u64) {
        self.0.store(self.0.load(Ordering::Relaxed) + amount, Ordering::Release);
    }

    /// Adds to the counter, from any thread.
    pub(crate) fn add_shared(&self, amount: u64) {
        self.0.fetch_add(amount, Ordering::AcqRel);
    }

    pub(crate) fn read(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }
}

/// The counters of one PE; a second set counts everything that happens on a node outside any PE's entries.
#[derive(Default, Debug)]
pub(crate) struct Counters {
    /// Messages sent. Quiescence detection compares them with `processed`.
    pub(crate) sent: Counter,
    /// Messages that are over.
    pub(crate) processed: Counter,
    /// Limits of time that were set to waits; each is a message that was sent, too.
    pub(crate) limits_set: Counter,
    /// Those of them that are over, which are processed messages, too.
    pub(crate) limits_over: Counter,
    /// Wake-ups of async entries by their own PE; each is also processed once.
    pub(crate) resumed: Counter,
    /// Wake-ups of async entries by any other thread; each is also processed once.
    pub(crate) woken: Counter,
    /// Entry methods run.
    pub(crate) entries: Counter,
    /// Bytes handed to the network.
    pub(crate) bytes: Counter,
    /// Messages whose arguments were encoded, because they left the process.
    pub(crate) encodes: Counter,
    /// Bulk copies of nocopy data: eager sends, fetches and posted receives.
    pub(crate) copies: Counter,
    /// Bytes of those copies.
    pub(crate) copied_bytes: Counter,
    /// Copies from layout to layout in one pass, where both sides are reached.
    pub(crate) stepped: Counter,
    /// Layouts packed by the sender, for receivers that do not reach its memory, or for many.
    pub(crate) packed: Counter,
    /// Layouts that were read with all that lies between, to be copied from here.
    pub(crate) sieved: Counter,
    /// Layouts that the kernel or the network moved run by run.
    pub(crate) vectored: Counter,
    /// Copies from layout to layout of other processes' that this one helped with.
    pub(crate) helped: Counter,
    /// Time without work, in nanoseconds.
    pub(crate) idle_ns: Counter,
}

impl Counters {
    /// Counts one bulk copy of nocopy data, from any thread.
    pub(crate) fn count_copy(&self, bytes: usize) {
        self.copies.add_shared(1);
        self.copied_bytes.add_shared(bytes as u64);
    }

    /// The same, by the one thread that writes these counters.
    #[inline]
    pub(crate) fn count_copy_here(&self, bytes: usize) {
        self.copies.add(1);
        self.copied_bytes.add(bytes as u64);
    }

    /// Messages, entries, bytes, encodings, copies, their bytes, and nanoseconds without work.
    pub(crate) fn figures(&self) -> [u64; 7] {
        let Self { sent, entries, bytes, encodes, copies, copied_bytes, idle_ns, .. } = self;
        [sent, entries, bytes, encodes, copies, copied_bytes, idle_ns].map(Counter::read)
    }

    /// Passes over layouts: stepped, packed, sieved, vectored, and those that this process helped with.
    pub(crate) fn layouts(&self) -> [u64; 5] {
        [&self.stepped, &self.packed, &self.sieved, &self.vectored, &self.helped].map(Counter::read)
    }
}
