//! A PE's run queue. `inbox -> **queue** -> scheduler`
//!
//! Three lanes: expedited calls first; then whatever has a priority before the default's, by priority; then the default
//! lane, a plain deque, because nearly every message is there; then the rest by priority. Equal priorities run
//! first in first out, unless the sender asked for last in first out. Across PEs order is only rough.
//!
//! Items stand in boxes that are used again, so that an item is written once, where it is later read: moving a message
//! costs more than queueing it.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::sync::Arc;

/// When a message runs: smaller runs first. An integer counts as a bit vector of one word, biased by 2^31; no priority
/// is integer 0. Bit vectors compare like fractions: word by word, a prefix before its extensions.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub enum Priority {
    /// An integer; 0 is the default.
    Integer(i32),
    /// Words of a bit vector, most significant first; made by [`Priority::bits`].
    Bits(BitVector),
}

/// The words of a bit-vector priority. Cheap to clone; one pointer, because nearly every message carries none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct BitVector(Arc<Vec<u32>>);

impl Priority {
    /// What messages have that name none.
    pub const DEFAULT: Self = Self::Integer(0);

    /// A bit-vector priority from its words.
    pub fn bits(words: &[u32]) -> Self {
        Self::Bits(BitVector(Arc::new(words.to_vec())))
    }
}

impl Default for Priority {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Ord for Priority {
    fn cmp(&self, other: &Self) -> Ordering {
        let bias = |integer: i32| [integer as u32 ^ (1 << 31)];
        match (self, other) {
            (Self::Integer(one), Self::Integer(two)) => one.cmp(two),
            (Self::Integer(one), Self::Bits(two)) => bias(*one)[..].cmp(&two.0),
            (Self::Bits(one), Self::Integer(two)) => one.0[..].cmp(&bias(*two)),
            (Self::Bits(one), Self::Bits(two)) => one.cmp(two),
        }
    }
}

impl PartialOrd for Priority {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// How a call is queued at its destination.
///
/// ```
/// use chare::{CallOptions, Priority};
/// let urgent = CallOptions::new().priority(Priority::Integer(-10));
/// let newest_first = CallOptions::new().last_in_first_out();
/// # let _ = (urgent, newest_first);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOptions {
    // Every message carries these: a number and two flags in one word, and a pointer that is hardly ever there.
    integer: i32,
    last_in_first_out: bool,
    expedited: bool,
    /// Instead of the integer.
    bits: Option<BitVector>,
}

impl CallOptions {
    /// Default priority, first in first out.
    pub fn new() -> Self {
        Self::default()
    }

    /// How calls of an entry are queued when the caller does not say.
    pub(crate) const fn of_entry(priority: i32, expedited: bool) -> Self {
        Self { integer: priority, last_in_first_out: false, expedited, bits: None }
    }

    /// Runs before calls of larger priority.
    pub fn priority(mut self, priority: Priority) -> Self {
        (self.integer, self.bits) = match priority {
            Priority::Integer(integer) => (integer, None),
            Priority::Bits(bits) => (0, Some(bits)),
        };
        self
    }

    /// Runs before calls of the same priority that are queued already.
    pub fn last_in_first_out(mut self) -> Self {
        self.last_in_first_out = true;
        self
    }

    /// Runs before all that is queued by priority.
    pub fn expedited(mut self) -> Self {
        self.expedited = true;
        self
    }

    #[inline]
    fn is_default(&self) -> bool {
        self.integer == 0 && !self.last_in_first_out && !self.expedited && self.bits.is_none()
    }

    /// Whether anything hangs on them.
    #[inline]
    pub(crate) fn needs_drop(&self) -> bool {
        self.bits.is_some()
    }

    fn ranks(&self) -> bool {
        self.integer != 0 || self.bits.is_some()
    }

    fn rank(&self) -> Priority {
        match &self.bits {
            Some(bits) => Priority::Bits(bits.clone()),
            None => Priority::Integer(self.integer),
        }
    }
}

struct Ranked<T> {
    priority: Priority,
    /// Order among equals: grows for first in first out, shrinks for last in first out.
    turn: i64,
    item: T,
}

impl<T> Ord for Ranked<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        // Reversed: the heap's greatest is the queue's first.
        (&other.priority, other.turn).cmp(&(&self.priority, self.turn))
    }
}

impl<T> PartialOrd for Ranked<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Ranked<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Ranked<T> {}

/// Boxes kept to be used again: as many as an entry may fill at once before memory is asked for.
const SPARE_BOXES: usize = 256;

/// The lanes of one PE. An item's default is what a box holds that waits to be used again; it needs no drop.
pub(crate) struct RunQueue<T> {
    expedited: VecDeque<Box<T>>,
    normal: VecDeque<Box<T>>,
    ranked: BinaryHeap<Ranked<Box<T>>>,
    turns: i64,
    spare: Vec<Box<T>>,
}

impl<T: Default> RunQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            expedited: VecDeque::new(),
            normal: VecDeque::new(),
            ranked: BinaryHeap::new(),
            turns: 0,
            spare: Vec::with_capacity(SPARE_BOXES),
        }
    }

    pub(crate) fn push(&mut self, options: &CallOptions, item: T) {
        self.push_made(options, || item);
    }

    /// Queues what `make` makes; it is made in its box.
    #[inline]
    pub(crate) fn push_made(&mut self, options: &CallOptions, make: impl FnOnce() -> T) {
        let item = match self.spare.pop() {
            Some(mut room) => {
                // What a spare box holds needs no drop; saying so spares the look.
                std::mem::forget(std::mem::replace(&mut *room, make()));
                room
            }
            None => Box::new(make()),
        };
        if options.is_default() {
            self.normal.push_back(item);
        } else {
            self.push_aside(options, item);
        }
    }

    fn push_aside(&mut self, options: &CallOptions, item: Box<T>) {
        if options.expedited {
            self.expedited.push_back(item);
        } else if options.ranks() {
            self.turns += 1;
            let turn = if options.last_in_first_out { -self.turns } else { self.turns };
            self.ranked.push(Ranked { priority: options.rank(), turn, item });
        } else {
            self.normal.push_front(item);
        }
    }

    /// How many items wait.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.expedited.len() + self.normal.len() + self.ranked.len()
    }

    /// The next item. Its box comes back by [`RunQueue::give_back`].
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<Box<T>> {
        if self.expedited.is_empty() && self.ranked.is_empty() {
            return self.normal.pop_front();
        }
        self.pop_ranked()
    }

    fn pop_ranked(&mut self) -> Option<Box<T>> {
        if let Some(item) = self.expedited.pop_front() {
            return Some(item);
        }
        if self.ranked.peek().is_some_and(|first| first.priority < Priority::DEFAULT)
            || self.normal.is_empty()
        {
            return self.ranked.pop().map(|first| first.item);
        }
        self.normal.pop_front()
    }

    /// Takes back the box of an item that is over; it holds the item's default.
    #[inline]
    pub(crate) fn give_back(&mut self, emptied: Box<T>) {
        if self.spare.len() < SPARE_BOXES {
            self.spare.push(emptied);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut RunQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop().map(|item| *item)).collect()
    }

    #[test]
    fn smaller_priorities_run_first_and_the_default_stands_in_the_middle() {
        let mut queue = RunQueue::new();
        for (priority, item) in [(5, 5), (0, 2), (-3, 1), (0, 3), (1, 4), (i32::MIN, 0)] {
            queue.push(&CallOptions::new().priority(Priority::Integer(priority)), item);
        }
        assert_eq!(drain(&mut queue), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn expedited_overtakes_every_priority() {
        let mut queue = RunQueue::new();
        queue.push(&CallOptions::new().priority(Priority::Integer(i32::MIN)), 1);
        queue.push(&CallOptions::new().expedited(), 0);
        assert_eq!(drain(&mut queue), [0, 1]);
    }

    #[test]
    fn last_in_first_out_within_a_priority() {
        let mut queue = RunQueue::new();
        let newest_first = CallOptions::new().last_in_first_out();
        queue.push(&newest_first, 1);
        queue.push(&newest_first, 0);
        queue.push(&newest_first.clone().priority(Priority::Integer(7)), 3);
        queue.push(&newest_first.priority(Priority::Integer(7)), 2);
        assert_eq!(drain(&mut queue), [0, 1, 2, 3]);
    }

    #[test]
    fn bit_vectors_compare_as_fractions_and_integers_as_one_word() {
        let half = 1 << 31;
        let mut priorities = vec![
            Priority::bits(&[half, 1]),
            Priority::bits(&[half + 1]),
            Priority::Integer(0),
            Priority::bits(&[half - 1, u32::MAX]),
            Priority::bits(&[]),
        ];
        priorities.sort();
        assert_eq!(
            priorities,
            [
                Priority::bits(&[]),
                Priority::bits(&[half - 1, u32::MAX]),
                Priority::Integer(0),
                Priority::bits(&[half, 1]),
                Priority::bits(&[half + 1]),
            ]
        );
        assert_eq!(Priority::bits(&[half]).cmp(&Priority::Integer(0)), Ordering::Equal);
    }
}
