//! Common ground of a driven job's nodes: which constants are at an extreme, how often is refused what may be, and the marks that were passed.
//!
//! 1. A knob has one value in the whole job, which hangs from the job's number for knobs and the knob's name alone: nothing is drawn, and no
//!    list of them is kept.
//! 2. What may be refused is refused by the dice of the node that asks, until the job's faults end.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// What the nodes of one driven job have in common. The default has constants as they are, and refuses nothing.
#[derive(Default, Debug)]
pub struct Common {
    /// Decides which knobs are at which extreme.
    knobs: Option<u64>,
    /// One of how many is refused of what may be.
    refuses_one_in: Option<u64>,
    /// From when on nothing is refused any more, in nanoseconds.
    calm_from: u64,
    marks: RefCell<BTreeMap<&'static str, u64>>,
}

impl Common {
    /// Knobs are at extremes by this number, if there is one, and one in so many is refused of what may be, until a moment in nanoseconds.
    pub fn new(knobs: Option<u64>, refuses_one_in: Option<u64>, calm_from: u64) -> Self {
        Self { knobs, refuses_one_in, calm_from, ..Self::default() }
    }

    /// How often each mark was passed.
    pub fn marks(&self) -> Vec<(&'static str, u64)> {
        self.marks.borrow().iter().map(|(mark, hits)| (*mark, *hits)).collect()
    }

    pub(super) fn pass(&self, mark: &'static str) {
        *self.marks.borrow_mut().entry(mark).or_default() += 1;
    }

    /// The extreme that the knob of this name is at, of so many: one knob in four is at one.
    pub(super) fn extreme(&self, name: u64, extremes: usize) -> Option<usize> {
        let mixed = mix(self.knobs? ^ name);
        mixed.is_multiple_of(4).then(|| (mixed >> 32) as usize % extremes)
    }

    pub(super) fn refuses(&self, now_ns: u64, draw: impl FnOnce() -> u64) -> bool {
        let may = self.refuses_one_in.filter(|_| now_ns < self.calm_from);
        may.is_some_and(|one_in| draw().is_multiple_of(one_in))
    }
}

/// The finalizer of SplitMix64 (Steele, Lea, Flood, 2014): each bit of the result hangs from all of the number.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
