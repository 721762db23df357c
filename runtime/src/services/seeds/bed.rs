//! Bed of a node's seeds: what its PEs say of themselves, so that singletons come to those that have less to do.

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// What the PEs of a node say of themselves, by rank.
pub(super) struct Bed {
    /// Messages that waited when the PE last said so, with the one that ran.
    waiting: Box<[CachePadded<AtomicUsize>]>,
    /// The PEs that have nothing to do, each once.
    idle: ArrayQueue<usize>,
    /// Whether a PE is among them.
    is_idle: Box<[CachePadded<AtomicBool>]>,
}

impl Bed {
    pub(super) fn new(pes: usize) -> Self {
        Self {
            waiting: (0..pes).map(|_| CachePadded::default()).collect(),
            idle: ArrayQueue::new(pes),
            is_idle: (0..pes).map(|_| CachePadded::default()).collect(),
        }
    }

    /// So many messages wait for the PE of this rank.
    pub(super) fn say_waiting(&self, rank: usize, messages: usize) {
        self.waiting[rank].store(messages, Ordering::Relaxed);
    }

    /// Of two ranks the one for which fewer messages wait.
    pub(super) fn lesser(&self, one: usize, other: usize) -> usize {
        let waiting = |rank: usize| self.waiting[rank].load(Ordering::Relaxed);
        if waiting(other) < waiting(one) { other } else { one }
    }

    /// The PE of this rank has nothing to do.
    pub(super) fn add_idle(&self, rank: usize) {
        if !self.is_idle[rank].swap(true, Ordering::Relaxed) {
            let added = self.idle.push(rank);
            debug_assert!(added.is_ok(), "each PE is there once");
        }
    }

    /// Takes a PE that had nothing to do. It gets a message of whoever takes it, after which it may say so again.
    pub(super) fn take_idle(&self) -> Option<usize> {
        if self.idle.is_empty() {
            return None;
        }
        let rank = self.idle.pop()?;
        self.is_idle[rank].store(false, Ordering::Relaxed);
        Some(rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_pes_are_taken_in_turn_each_once() {
        let bed = Bed::new(3);
        for rank in [2, 0, 2, 1, 0] {
            bed.add_idle(rank);
        }
        assert_eq!([(); 4].map(|()| bed.take_idle()), [Some(2), Some(0), Some(1), None]);
        bed.add_idle(0);
        assert_eq!(bed.take_idle(), Some(0));
    }

    #[test]
    fn the_first_of_two_pes_is_chosen_unless_less_waits_for_the_other() {
        let bed = Bed::new(2);
        assert_eq!((bed.lesser(0, 1), bed.lesser(1, 0)), (0, 1));
        bed.say_waiting(0, 7);
        assert_eq!((bed.lesser(0, 1), bed.lesser(1, 0)), (1, 1));
    }
}
