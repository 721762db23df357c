//! Calls of a node that wait for posted buffers, counted by PE and entry, so that a standstill can name them.

use crate::model::ids::PeId;
use crate::model::registry::EntryRegistration;
use parking_lot::Mutex;
use rustc_hash::FxHashMap;

/// The PE, and the names of chare and entry.
type Key = (PeId, &'static str, &'static str);

/// The calls that wait for posted buffers on the PEs of one node.
#[derive(Default)]
pub(crate) struct PostedCalls(Mutex<FxHashMap<Key, u64>>);

impl PostedCalls {
    /// Counts a call that begins to wait.
    pub(crate) fn enter(&self, pe: PeId, entry: &'static EntryRegistration) {
        *self.0.lock().entry((pe, entry.chare, entry.name)).or_default() += 1;
    }

    /// Takes a call out that waits no more.
    pub(crate) fn leave(&self, pe: PeId, entry: &'static EntryRegistration) {
        let (mut waiting, key) = (self.0.lock(), (pe, entry.chare, entry.name));
        let count = waiting.get_mut(&key).expect("it was counted");
        *count -= 1;
        if *count == 0 {
            waiting.remove(&key);
        }
    }

    /// The calls that wait on a PE, described, and how many of each.
    pub(crate) fn waiting_on(&self, pe: PeId) -> Vec<(String, u64)> {
        let waiting = self.0.lock();
        let here = waiting.iter().filter(|((at, ..), _)| *at == pe);
        here.map(|((_, chare, name), count)| {
            (format!("a call of {chare}::{name} for a posted buffer"), *count)
        })
        .collect()
    }
}
