//! Questions of a root whether its sections are formed, and the answers that they wait for.

use crate::model::callback::ErasedCallback;
use rustc_hash::FxHashMap;

/// The callbacks that wait on a root until the homes of their sections have answered, and how many have not.
#[derive(Default)]
pub(super) struct Questions {
    asked: u64,
    open: FxHashMap<u64, (ErasedCallback, usize)>,
}

impl Questions {
    /// Adds a callback that waits for the answers of so many homes; returns the question's number.
    pub(super) fn add(&mut self, callback: ErasedCallback, homes: usize) -> u64 {
        self.asked += 1;
        self.open.insert(self.asked, (callback, homes));
        self.asked
    }

    /// Takes in an answer; returns the callback if it was the last one.
    pub(super) fn answer(&mut self, question: u64) -> Option<ErasedCallback> {
        let (callback, homes) = self.open.get_mut(&question)?;
        let callback = *callback;
        *homes -= 1;
        if *homes > 0 {
            return None;
        }
        self.open.remove(&question);
        Some(callback)
    }
}
