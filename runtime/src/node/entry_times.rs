//! Times of the entries of a node's PEs, which each PE leaves when it ends: what `+times` prints.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;

/// Chare type and entry.
pub(crate) type EntryName = (&'static str, &'static str);

/// How often an entry ran, and how long.
#[derive(Clone, Copy, Default)]
pub(crate) struct Spent {
    pub(crate) runs: u64,
    pub(crate) time: Duration,
}

impl Spent {
    /// Adds more of the same entry, or of another one to a sum.
    pub(crate) fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.time += other.time;
    }
}

/// The times of one node's entries; any PE adds its own.
#[derive(Default)]
pub(crate) struct EntryTimes(Mutex<BTreeMap<EntryName, Spent>>);

impl EntryTimes {
    /// Adds what one PE has taken.
    pub(crate) fn add(&self, times: impl IntoIterator<Item = (EntryName, Spent)>) {
        let mut all = self.0.lock();
        times.into_iter().for_each(|(entry, spent)| all.entry(entry).or_default().add(spent));
    }

    /// All of them, the longest first.
    pub(crate) fn by_time(&self) -> Vec<(EntryName, Spent)> {
        let mut all: Vec<_> = self.0.lock().iter().map(|(entry, spent)| (*entry, *spent)).collect();
        all.sort_by_key(|(_, spent)| std::cmp::Reverse(spent.time));
        all
    }
}
