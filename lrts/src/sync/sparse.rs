//! Sparse table: entries by number, each made at its first use. A node of a large job talks to few of the others.
//!
//! Entries stand in blocks of neighbours, so that what is there before the first use is a pointer for each block. What was made stays where
//! it is until the table goes. Any thread may make an entry; of two that do so at a time one waits for the other.

use std::sync::OnceLock;

/// Entries of a block: neighbours are often used together.
const BLOCK: usize = 8;

type Block<T> = Box<[OnceLock<T>; BLOCK]>;

/// A table by number; see the file's head.
pub struct Sparse<T> {
    blocks: Box<[OnceLock<Block<T>>]>,
    len: usize,
}

impl<T> Sparse<T> {
    /// A table with room for so many entries, none of which is there.
    pub fn new(len: usize) -> Self {
        Self { blocks: (0..len.div_ceil(BLOCK)).map(|_| OnceLock::new()).collect(), len }
    }

    /// An entry, if it was made.
    #[inline]
    pub fn get(&self, number: usize) -> Option<&T> {
        self.blocks.get(number / BLOCK)?.get()?[number % BLOCK].get()
    }

    /// An entry, which is made if it is not there.
    ///
    /// # Panics
    /// If there is no room for one of this number.
    #[inline]
    pub fn get_or_make(&self, number: usize, make: impl FnOnce() -> T) -> &T {
        match self.get(number) {
            Some(entry) => entry,
            None => self.make(number, make),
        }
    }

    #[cold]
    fn make(&self, number: usize, make: impl FnOnce() -> T) -> &T {
        assert!(number < self.len, "entry {number} of a table of {}", self.len);
        let block = &self.blocks[number / BLOCK];
        let block = block.get_or_init(|| Box::new([const { OnceLock::new() }; BLOCK]));
        block[number % BLOCK].get_or_init(make)
    }

    /// All entries that were made, by number.
    pub fn made(&self) -> impl Iterator<Item = (usize, &T)> {
        let blocks = (0..).step_by(BLOCK).zip(&self.blocks);
        let blocks = blocks.filter_map(|(first, block)| Some((first, block.get()?)));
        let entries = blocks.flat_map(|(first, block)| (first..).zip(block.iter()));
        entries.filter_map(|(number, entry)| Some((number, entry.get()?)))
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn an_entry_is_made_once_and_stays() {
        let table = Sparse::new(100);
        assert!(table.get(99).is_none() && table.made().next().is_none());
        let first = std::ptr::from_ref(table.get_or_make(99, || 7));
        assert_eq!(*table.get_or_make(3, || 8), 8);
        assert_eq!(*table.get_or_make(99, || unreachable!("it is there")), 7);
        assert_eq!(std::ptr::from_ref(table.get(99).expect("it was made")), first);
        assert!(table.made().eq([(3, &8), (99, &7)]));
        assert!(table.get(100).is_none() && table.get(usize::MAX).is_none());
    }

    #[test]
    fn of_many_threads_one_makes_an_entry() {
        let (table, made) = (Sparse::new(9), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for number in 0..9 {
                        table.get_or_make(number, || made.fetch_add(1, Ordering::Relaxed));
                    }
                });
            }
        });
        assert_eq!(made.into_inner(), 9);
    }

    #[test]
    #[should_panic(expected = "entry 103 of a table of 100")]
    fn nobody_makes_an_entry_for_which_there_is_no_room() {
        Sparse::new(100).get_or_make(103, || ());
    }
}
