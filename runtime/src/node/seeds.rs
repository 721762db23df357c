//! Seeds: how the PEs are chosen on which singletons are created of which the program does not say where; and what the PEs of a node say of
//! themselves for that.

use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use std::str::FromStr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The choice of the PE on which a singleton is created by `create`; `create_on` is never overruled. The choices are those of Charm++'s seed
/// balancers (`-balance`).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Seeds {
    /// Any PE of the job, each as likely as any other.
    #[default]
    Random,
    /// Of two random PEs of this process the one for which fewer messages wait, by what each last said; any PE of another process.
    Least,
    /// This PE, until it comes to create the singleton: a PE of this process that has nothing to do gets it before. Any PE of another process.
    Steal,
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "random" => Ok(Self::Random),
            "least" => Ok(Self::Least),
            "steal" => Ok(Self::Steal),
            _ => Err("write random, least or steal".to_owned()),
        }
    }
}

/// What the PEs of a node say of themselves, by rank.
pub(crate) struct SeedBed {
    pub(crate) seeds: Seeds,
    /// Whether PEs say it: from the first creation on.
    is_open: AtomicBool,
    /// Messages that waited when the PE last said so, with the one that ran.
    waiting: Box<[CachePadded<AtomicUsize>]>,
    /// The PEs that have nothing to do, each once.
    idle: ArrayQueue<usize>,
    /// Whether a PE is among them.
    is_idle: Box<[CachePadded<AtomicBool>]>,
}

impl SeedBed {
    pub(crate) fn new(seeds: Seeds, pes: usize) -> Self {
        Self {
            seeds,
            is_open: AtomicBool::new(false),
            waiting: (0..pes).map(|_| CachePadded::default()).collect(),
            idle: ArrayQueue::new(pes),
            is_idle: (0..pes).map(|_| CachePadded::default()).collect(),
        }
    }

    /// Whether it was opened now, and by nobody before.
    pub(crate) fn open(&self) -> bool {
        !self.is_open.load(Ordering::Relaxed) && !self.is_open.swap(true, Ordering::Relaxed)
    }

    /// So many messages wait for the PE of this rank.
    pub(crate) fn say_waiting(&self, rank: usize, messages: usize) {
        self.waiting[rank].store(messages, Ordering::Relaxed);
    }

    /// Of two ranks the one for which fewer messages wait.
    pub(crate) fn lesser(&self, one: usize, other: usize) -> usize {
        let waiting = |rank: usize| self.waiting[rank].load(Ordering::Relaxed);
        if waiting(other) < waiting(one) { other } else { one }
    }

    /// The PE of this rank has nothing to do.
    pub(crate) fn add_idle(&self, rank: usize) {
        if !self.is_idle[rank].swap(true, Ordering::Relaxed) {
            let added = self.idle.push(rank);
            debug_assert!(added.is_ok(), "each PE is there once");
        }
    }

    /// Takes a PE that had nothing to do. It gets a message of whoever takes it, after which it may say so again.
    pub(crate) fn take_idle(&self) -> Option<usize> {
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
    fn the_first_creation_opens_it_and_idle_pes_are_taken_in_turn() {
        let bed = SeedBed::new(Seeds::Steal, 3);
        assert!(bed.open() && !bed.open());
        for rank in [2, 0, 2, 1, 0] {
            bed.add_idle(rank);
        }
        assert_eq!([(); 4].map(|()| bed.take_idle()), [Some(2), Some(0), Some(1), None]);
        bed.add_idle(0);
        assert_eq!(bed.take_idle(), Some(0));
    }

    #[test]
    fn the_first_of_two_pes_is_chosen_unless_less_waits_for_the_other() {
        let bed = SeedBed::new(Seeds::Least, 2);
        assert_eq!((bed.lesser(0, 1), bed.lesser(1, 0)), (0, 1));
        bed.say_waiting(0, 7);
        assert_eq!((bed.lesser(0, 1), bed.lesser(1, 0)), (1, 1));
    }

    #[test]
    fn other_words_are_refused() {
        assert_eq!("steal".parse(), Ok(Seeds::Steal));
        assert_eq!("neighbor".parse::<Seeds>(), Err("write random, least or steal".to_owned()));
    }
}
