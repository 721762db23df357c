//! Held-back PEs of a node: who waits for room in whose mailbox, and the circles among them.
//!
//! 1. A PE that waits says for whom. It alone writes its word; the others only read it, again and again, so no order of memory matters.
//! 2. A PE that waits takes no messages. So PEs that wait for each other in a circle would do so for ever, and one that finds itself in a
//!    circle goes on. The words change while they are read: a PE may go on without need, which costs some memory and nothing else. A
//!    circle that stands is seen by every PE in it.
//! 3. A PE that waits for anything else waits for a time that has an end: for a node, see `node/backpressure.rs`.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Waits for nobody.
const NOBODY: usize = usize::MAX;

/// For each PE of a node, by rank, the rank of the PE that it waits for.
pub(crate) struct HeldBack(Box<[AtomicUsize]>);

impl HeldBack {
    pub(crate) fn new(pes: usize) -> Self {
        Self((0..pes).map(|_| AtomicUsize::new(NOBODY)).collect())
    }

    /// The PE of rank `source` waits for the one of rank `target` from now on.
    pub(crate) fn begin(&self, source: usize, target: usize) {
        self.0[source].store(target, Ordering::Relaxed);
    }

    /// The PE of this rank waits no more.
    pub(crate) fn end(&self, rank: usize) {
        self.0[rank].store(NOBODY, Ordering::Relaxed);
    }

    /// Whether the PE of this rank waits for itself, by way of others.
    pub(crate) fn is_in_circle(&self, rank: usize) -> bool {
        let awaited = |rank: &usize| self.0.get(*rank).map(|awaited| awaited.load(Ordering::Relaxed));
        // More steps than there are PEs lead through a circle that this PE is not in.
        std::iter::successors(awaited(&rank), awaited).take(self.0.len()).any(|awaited| awaited == rank)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pes_in_a_circle_see_it_and_those_that_lead_there_do_not() {
        let held_back = HeldBack::new(5);
        let in_circle = || -> Vec<usize> { (0..5).filter(|rank| held_back.is_in_circle(*rank)).collect() };
        for (source, target) in [(0, 1), (1, 2), (2, 3), (4, 3)] {
            held_back.begin(source, target);
            assert!(in_circle().is_empty());
        }
        held_back.begin(3, 1);
        assert_eq!(in_circle(), [1, 2, 3]);
        held_back.end(2);
        assert!(in_circle().is_empty());
        held_back.begin(2, 1);
        assert_eq!(in_circle(), [1, 2]);
    }
}
