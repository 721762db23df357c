//! Shelves of words: each chare of an array counts some of the words.

use chare::prelude::*;
use std::collections::HashMap;

/// Counts of some of the words. It outlives a panic of its entries: who asked gets an error, and nobody else notices.
pub(crate) struct Shelf {
    counts: HashMap<String, u64>,
}

#[chare(array, on_panic = answer)]
impl Shelf {
    #[entry]
    pub(crate) fn new() -> Self {
        Self { counts: HashMap::new() }
    }

    /// Counts a word once more; returns how often it was counted.
    #[entry]
    pub(crate) fn add(&mut self, word: String) -> u64 {
        let count = self.counts.entry(word).or_default();
        *count += 1;
        *count
    }

    #[entry]
    pub(crate) fn count(&self, word: String) -> u64 {
        self.counts.get(&word).copied().unwrap_or(0)
    }

    /// The words of all shelves, and how often they were counted.
    #[entry]
    pub(crate) fn report(&mut self, to: Callback<(u64, u64)>) {
        let words = self.counts.len() as u64;
        self.contribute(tuple((sum(words), sum(self.counts.values().sum::<u64>()))), to);
    }

    /// Fails, to show what follows.
    #[entry]
    pub(crate) fn stumble(&mut self) -> u64 {
        panic!("this shelf was asked to stumble");
    }
}
