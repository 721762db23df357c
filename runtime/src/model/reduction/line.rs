//! Line of the reductions that are not over at one place, numbered in the order in which they began there.
//!
//! Nearly always the first that began is the first that is over. One that stays behind leaves the dense part of the line, so that those
//! behind it leave nothing when they are over.

use std::collections::{BTreeMap, VecDeque};

/// The reductions that are not over at one place.
pub(super) struct Line<R> {
    /// Those before `first`.
    behind: BTreeMap<u64, R>,
    first: u64,
    dense: VecDeque<R>,
}

impl<R> Default for Line<R> {
    fn default() -> Self {
        Self { behind: BTreeMap::new(), first: 0, dense: VecDeque::new() }
    }
}

impl<R> Line<R> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.behind.len() + self.dense.len()
    }

    /// The number of the one that begins next.
    pub(super) fn end(&self) -> u64 {
        self.first + self.dense.len() as u64
    }

    /// The number of the first, or of the one that begins next.
    pub(super) fn first(&self) -> u64 {
        self.behind.keys().next().copied().unwrap_or(self.first)
    }

    /// A reduction of the dense part.
    #[inline]
    pub(super) fn dense_mut(&mut self, number: u64) -> Option<&mut R> {
        // For one that is before the dense part the difference wraps around, to more than there ever are.
        self.dense.get_mut(number.wrapping_sub(self.first) as usize)
    }

    pub(super) fn get(&self, number: u64) -> Option<&R> {
        match number.checked_sub(self.first) {
            Some(place) => self.dense.get(place as usize),
            None => self.behind.get(&number),
        }
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut R> {
        match number.checked_sub(self.first) {
            Some(place) => self.dense.get_mut(place as usize),
            None => self.behind.get_mut(&number),
        }
    }

    /// Adds one that begins; returns its number.
    pub(super) fn push(&mut self, reduction: R) -> u64 {
        self.dense.push_back(reduction);
        self.first + self.dense.len() as u64 - 1
    }

    /// Those from a number on, in order.
    pub(super) fn from(&self, number: u64) -> impl Iterator<Item = (u64, &R)> {
        let skipped = number.saturating_sub(self.first);
        let dense = self.dense.iter().skip(skipped as usize);
        let numbers = self.first + skipped..;
        self.behind.range(number..).map(|(number, reduction)| (*number, reduction)).chain(numbers.zip(dense))
    }

    /// All of them, in order.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut R)> {
        let behind = self.behind.iter_mut().map(|(number, reduction)| (*number, reduction));
        behind.chain((self.first..).zip(&mut self.dense))
    }

    /// Takes out one that is over.
    pub(super) fn take(&mut self, number: u64) -> Option<R> {
        let Some(before) = number.checked_sub(self.first) else { return self.behind.remove(&number) };
        if before as usize >= self.dense.len() {
            return None;
        }
        let staying = (self.first..).zip(self.dense.drain(..before as usize));
        self.behind.extend(staying);
        self.first = number + 1;
        self.dense.pop_front()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_stays_behind_is_found_and_those_that_are_over_leave_nothing() {
        let mut line = Line::default();
        assert_eq!((0..5).map(|value| line.push(value * 10)).collect::<Vec<u64>>(), [0, 1, 2, 3, 4]);
        assert_eq!(line.take(2), Some(20));
        assert_eq!(line.take(2), None);
        assert_eq!((line.first(), line.len()), (0, 4));
        assert_eq!(
            line.from(1).map(|(number, value)| (number, *value)).collect::<Vec<_>>(),
            [(1, 10), (3, 30), (4, 40)]
        );
        assert_eq!(line.from(4).count(), 1);
        assert_eq!(line.dense_mut(1), None);
        assert_eq!(line.get(1), Some(&10));
        assert_eq!(line.get_mut(3), Some(&mut 30));
        assert_eq!((line.take(1), line.take(0), line.take(5)), (Some(10), Some(0), None));
        assert_eq!((line.first(), line.push(50)), (3, 5));
        assert_eq!(line.iter_mut().map(|(number, _)| number).collect::<Vec<_>>(), [3, 4, 5]);
        assert!(line.behind.is_empty());
    }
}
