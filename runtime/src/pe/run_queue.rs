//! Run queue of a PE: keeps work in lanes by priority.
//! `lrts -> delivery/polling -> delivery/inbox -> node/mailbox, **pe/run_queue** -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! Three lanes: expedited items run first, the immediate ones among them before the others; then items with a priority before the
//! default's, by priority; then the default lane, a plain deque, because nearly every message is there; then the other items by priority.
//! Equal priorities run first in first out, unless the sender asked for last in first out. Across PEs order is only rough. A fourth lane
//! holds items that run when the PE would rest otherwise.
//!
//! A shuffled queue runs equal priorities in an order that its seed decides: no program may rely on any order. So it does with expedited items
//! of other PEs; those of its own PE keep their order, in which the runtime tells itself what was asked for first.
//!
//! Items stand in boxes that are used again, so that an item is written once, where it is later read: moving a message costs more than
//! queueing it. The machine code for the default lane is laid out in one piece, all other code aside (`cold_path`): that saves a tenth of
//! a call on the same PE.

use crate::model::call_options::{CallOptions, Lane};
use crate::model::priority::Priority;
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};
use std::hint::cold_path;

struct Ranked<T> {
    priority: Priority,
    /// Order among equals: grows for first in first out, shrinks for last in first out; random in a shuffled queue.
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

/// Largest number of boxes kept to be used again: as many as an entry may fill at once before the queue allocates.
const SPARE_BOXES: usize = 256;

/// The lanes of one PE. A box that waits to be used again holds the item type's default, which needs no drop.
pub(crate) struct RunQueue<T> {
    /// The immediate items, then the expedited ones.
    expedited: VecDeque<Box<T>>,
    immediate: usize,
    normal: VecDeque<Box<T>>,
    ranked: BinaryHeap<Ranked<Box<T>>>,
    when_idle: VecDeque<Box<T>>,
    turns: i64,
    /// Decides the turns of a shuffled queue.
    dice: Option<ChaCha8Rng>,
    spare: Vec<Box<T>>,
}

impl<T: Default> RunQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            expedited: VecDeque::new(),
            immediate: 0,
            normal: VecDeque::new(),
            ranked: BinaryHeap::new(),
            when_idle: VecDeque::new(),
            turns: 0,
            dice: None,
            spare: Vec::new(),
        }
    }

    /// A queue in which items of equal priority have no order but the seed's.
    pub(crate) fn shuffled(seed: u64) -> Self {
        Self { dice: Some(ChaCha8Rng::seed_from_u64(seed)), ..Self::new() }
    }

    /// Queues the item that `make` makes, directly in its box.
    #[inline]
    pub(crate) fn push_made(&mut self, options: &CallOptions, make: impl FnOnce() -> T) {
        if options.is_default() {
            return self.push_default(make);
        }
        let item = self.box_up(make);
        self.push_aside(options, item);
    }

    /// Like [`RunQueue::push_made`], for what comes from another PE.
    #[inline]
    pub(crate) fn push_arrived(&mut self, options: &CallOptions, make: impl FnOnce() -> T) {
        if options.is_default() {
            return self.push_default(make);
        }
        let item = self.box_up(make);
        match &mut self.dice {
            Some(dice) if options.lane == Lane::Expedited => {
                let turn = dice.random_range(self.immediate..=self.expedited.len());
                self.expedited.insert(turn, item);
            }
            _ => self.push_aside(options, item),
        }
    }

    /// Like [`RunQueue::push_made`], with the default options.
    #[inline]
    pub(crate) fn push_default(&mut self, make: impl FnOnce() -> T) {
        let item = self.box_up(make);
        if self.dice.is_none() {
            self.normal.push_back(item);
        } else {
            cold_path();
            self.push_aside(&CallOptions::new(), item);
        }
    }

    #[inline]
    fn box_up(&mut self, make: impl FnOnce() -> T) -> Box<T> {
        match self.spare.pop() {
            Some(mut room) => {
                // The default in a spare box needs no drop; `forget` saves the check.
                std::mem::forget(std::mem::replace(&mut *room, make()));
                room
            }
            None => {
                cold_path();
                Box::new(make())
            }
        }
    }

    fn push_aside(&mut self, options: &CallOptions, item: Box<T>) {
        match options.lane {
            Lane::Immediate => {
                self.expedited.insert(self.immediate, item);
                self.immediate += 1;
            }
            Lane::Expedited => self.expedited.push_back(item),
            Lane::WhenIdle => self.when_idle.push_back(item),
            Lane::ByPriority => self.push_by_priority(options, item),
        }
    }

    fn push_by_priority(&mut self, options: &CallOptions, item: Box<T>) {
        if options.ranks() || self.dice.is_some() {
            self.turns += 1;
            let turn = match &mut self.dice {
                Some(dice) => dice.random(),
                None if options.last_in_first_out => -self.turns,
                None => self.turns,
            };
            self.ranked.push(Ranked { priority: options.rank(), turn, item });
        } else if options.last_in_first_out {
            self.normal.push_front(item);
        } else {
            self.normal.push_back(item);
        }
    }

    /// Whether no item waits that a busy PE runs: the lane for idle times does not count.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.normal.is_empty() && self.expedited.is_empty() && self.ranked.is_empty()
    }

    /// Whether any item waits.
    pub(crate) fn has_any(&self) -> bool {
        !self.is_empty() || !self.when_idle.is_empty()
    }

    /// Number of waiting items that a busy PE runs.
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
        cold_path();
        self.pop_ranked()
    }

    fn pop_ranked(&mut self) -> Option<Box<T>> {
        if let Some(item) = self.expedited.pop_front() {
            self.immediate = self.immediate.saturating_sub(1);
            return Some(item);
        }
        if self.ranked.peek().is_some_and(|first| first.priority < Priority::DEFAULT)
            || self.normal.is_empty()
        {
            return self.ranked.pop().map(|first| first.item);
        }
        self.normal.pop_front()
    }

    /// All items that wait.
    #[cfg(feature = "sim")]
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let ranked = self.ranked.iter().map(|ranked| &ranked.item);
        let others = self.expedited.iter().chain(&self.normal).chain(&self.when_idle);
        others.chain(ranked).map(|item| &**item)
    }

    /// The next item that runs when nothing else can. Its box comes back by [`RunQueue::give_back`].
    pub(crate) fn pop_idle(&mut self) -> Option<Box<T>> {
        self.when_idle.pop_front()
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
    use crate::model::ids::{CollectionId, PeId};

    fn drain(queue: &mut RunQueue<u32>) -> Vec<u32> {
        std::iter::from_fn(|| queue.pop().map(|item| *item)).collect()
    }

    #[test]
    fn smaller_priorities_run_first_and_the_default_stands_in_the_middle() {
        let mut queue = RunQueue::new();
        for (priority, item) in [(5, 5), (0, 2), (-3, 1), (0, 3), (1, 4), (i32::MIN, 0)] {
            queue.push_made(&CallOptions::new().priority(Priority::integer(priority)), || item);
        }
        assert_eq!(drain(&mut queue), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn expedited_overtakes_every_priority() {
        let mut queue = RunQueue::new();
        queue.push_made(&CallOptions::new().priority(Priority::integer(i32::MIN)), || 1);
        queue.push_made(&CallOptions::new().expedited(), || 0);
        assert_eq!(drain(&mut queue), [0, 1]);
    }

    #[test]
    fn immediate_overtakes_what_is_expedited() {
        let mut queue = RunQueue::new();
        let (expedited, immediate) = (CallOptions::new().expedited(), CallOptions::new().immediate());
        queue.push_made(&expedited, || 1);
        queue.push_made(&immediate, || 0);
        assert_eq!(queue.pop(), Some(Box::new(0)));
        for (options, item) in [(&expedited, 5), (&immediate, 2), (&immediate, 3)] {
            queue.push_made(options, || item);
        }
        assert_eq!(queue.pop(), Some(Box::new(2)));
        queue.push_made(&immediate, || 4);
        assert_eq!(drain(&mut queue), [3, 4, 1, 5]);
    }

    #[test]
    fn last_in_first_out_within_a_priority() {
        let mut queue = RunQueue::new();
        let newest_first = CallOptions::new().last_in_first_out();
        queue.push_made(&newest_first, || 1);
        queue.push_made(&newest_first, || 0);
        queue.push_made(&newest_first.clone().priority(Priority::integer(7)), || 3);
        queue.push_made(&newest_first.priority(Priority::integer(7)), || 2);
        assert_eq!(drain(&mut queue), [0, 1, 2, 3]);
    }

    #[test]
    fn options_that_only_name_a_collection_to_come_after_change_no_order() {
        let (mut queue, collection) = (RunQueue::new(), CollectionId { creator: PeId(0), serial: 0 });
        queue.push_made(&CallOptions::new(), || 0);
        queue.push_made(&CallOptions::new().after_collection(collection), || 1);
        queue.push_made(&CallOptions::new(), || 2);
        assert_eq!(drain(&mut queue), [0, 1, 2]);
    }

    #[test]
    fn what_runs_when_idle_waits_for_all_else() {
        let mut queue = RunQueue::new();
        queue.push_made(&CallOptions::of_entry(0, Lane::WhenIdle), || 1);
        queue.push_made(&CallOptions::new(), || 0);
        assert_eq!(drain(&mut queue), [0]);
        assert_eq!(queue.pop_idle(), Some(Box::new(1)));
        assert_eq!(queue.pop_idle(), None);
    }

    #[test]
    fn a_seed_decides_the_order_of_equals_and_of_nothing_else() {
        let order_of = |seed| {
            let mut queue = RunQueue::shuffled(seed);
            for item in 10..30 {
                queue.push_made(&CallOptions::new(), || item);
            }
            for (priority, item) in [(1, 41), (1, 42), (-1, 9)] {
                queue.push_made(&CallOptions::new().priority(Priority::integer(priority)), || item);
            }
            for item in 1..9 {
                queue.push_arrived(&CallOptions::new().expedited(), || item);
            }
            queue.push_made(&CallOptions::new().immediate(), || 0);
            drain(&mut queue)
        };
        let (one, other) = (order_of(1), order_of(2));
        assert_eq!(one, order_of(1), "a seed replays");
        assert_ne!(one, other);
        for order in [one, other] {
            assert_eq!((order[0], order[9]), (0, 9), "{order:?}");
            assert!(order[1..9].iter().all(|item| *item < 9) && !order[1..9].is_sorted(), "{order:?}");
            assert!(order[10..30].iter().all(|item| *item < 30) && !order[10..30].is_sorted(), "{order:?}");
            assert!(order[30..].iter().all(|item| *item > 40), "{order:?}");
        }
    }
}
