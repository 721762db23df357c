//! Times of entries on one PE: how often each ran, and how long. Taken only where somebody may look (`+dashboard`) or will (`+times`).
//!
//! The time of an entry is that of its own code and of the calls that it makes like functions. An `async` entry counts each time that it
//! goes on. Two readings of the clock and a look into a table: some 60 ns for each entry.

pub(crate) use crate::node::entry_times::{EntryName, Spent};
use chare_lrts::clock;
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// The times of one PE's entries.
#[derive(Default)]
pub(crate) struct Times(RefCell<FxHashMap<EntryName, Spent>>);

impl Times {
    /// Runs `body`, which is this entry's, and adds its time.
    pub(super) fn take<R>(&self, entry: EntryName, body: impl FnOnce() -> R) -> R {
        let since = clock::now();
        let result = body();
        let time = clock::since(since);
        let mut times = self.0.borrow_mut();
        let spent = times.entry(entry).or_default();
        spent.add(Spent { runs: 1, time });
        result
    }

    /// All times so far.
    pub(crate) fn all(&self) -> Vec<(EntryName, Spent)> {
        self.0.borrow().iter().map(|(entry, spent)| (*entry, *spent)).collect()
    }
}
