//! Set of numbers that somebody gave one by one, seen roughly in that order: all below a bound, and the few that overtook others. A long
//! run of numbers takes no memory.

use std::collections::BTreeSet;

/// The numbers that were seen.
#[derive(Clone, Default)]
pub(crate) struct SeenNumbers {
    /// All numbers below the bound were seen.
    bound: u64,
    /// The numbers above the bound that were seen.
    early: BTreeSet<u64>,
}

impl SeenNumbers {
    /// As if all numbers before `first` had been seen.
    pub(crate) fn from(first: u64) -> Self {
        Self { bound: first, early: BTreeSet::new() }
    }

    /// Notes a number. Returns whether it was not seen before.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        if number != self.bound {
            return number > self.bound && self.early.insert(number);
        }
        self.bound += 1;
        while !self.early.is_empty() && self.early.remove(&self.bound) {
            self.bound += 1;
        }
        true
    }

    /// Whether a number was seen.
    pub(crate) fn includes(&self, number: u64) -> bool {
        number < self.bound || self.early.contains(&number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_seen_once_in_any_order_and_leave_nothing_behind() {
        let mut seen = SeenNumbers::from(10);
        for number in [13, 10, 12, 15, 11] {
            assert!(!seen.includes(number));
            assert!(seen.insert(number));
            assert!(seen.includes(number));
        }
        assert!(!seen.includes(14) && seen.includes(9));
        for number in [9, 10, 13, 15] {
            assert!(!seen.insert(number), "{number} again");
        }
        assert_eq!(seen.early.len(), 1, "15 alone waits for 14");
    }
}
