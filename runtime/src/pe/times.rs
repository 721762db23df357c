//! Times of entries on one PE: how often each ran, and how long. Taken only where somebody may look (`+dashboard`) or will (`+times`), and
//! where a simulated job says what entries cost.
//!
//! The time of an entry is that of its own code and of the calls that it makes like functions. An `async` entry counts each time that it
//! goes on. Two readings of the clock and a look into a table: some 60 ns for each entry.

#[cfg(feature = "sim")]
use super::costs::Costs;
pub(crate) use crate::node::entry_times::{EntryName, Spent};
use chare_lrts::clock;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
#[cfg(feature = "sim")]
use std::{cell::OnceCell, rc::Rc};

/// The times of one PE's entries.
#[derive(Default)]
pub(crate) struct Times {
    spent: RefCell<FxHashMap<EntryName, Spent>>,
    /// What entries cost, in a simulated job that says so.
    #[cfg(feature = "sim")]
    costs: OnceCell<Rc<Costs>>,
}

impl Times {
    /// Runs `body`, which is this entry's, and adds its time.
    pub(super) fn take<R>(&self, entry: EntryName, body: impl FnOnce() -> R) -> R {
        let since = clock::now();
        #[cfg(feature = "sim")]
        if let Some(costs) = self.costs.get() {
            clock::spend(costs.of(entry.0, entry.1));
        }
        let result = body();
        let time = clock::since(since);
        let mut times = self.spent.borrow_mut();
        let spent = times.entry(entry).or_default();
        spent.add(Spent { runs: 1, time });
        result
    }

    /// Has each entry cost time before it runs.
    #[cfg(feature = "sim")]
    pub(crate) fn charge(&self, costs: &Rc<Costs>) {
        self.costs.get_or_init(|| Rc::clone(costs));
    }

    /// All times so far.
    pub(crate) fn all(&self) -> Vec<(EntryName, Spent)> {
        self.spent.borrow().iter().map(|(entry, spent)| (*entry, *spent)).collect()
    }
}
