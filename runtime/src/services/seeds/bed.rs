//! Bed of a node's seeds: what its PEs say of themselves, and what those of other nodes said, so that singletons come to those that have
//! less to do.
//!
//! Nothing here orders anything else: whatever is read is an estimate, and any thread of the node may write it.

use crate::model::ids::NodeId;
use chare_lrts::sparse::Sparse;
use crossbeam_queue::ArrayQueue;
use crossbeam_utils::CachePadded;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What the PEs of a node say of themselves, by rank.
pub(super) struct Bed {
    /// Messages that waited when the PE last said so, with the one that ran, and singletons that were created there since.
    waiting: Box<[CachePadded<AtomicU32>]>,
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
        self.waiting[rank].store(u32::try_from(messages).unwrap_or(u32::MAX), Ordering::Relaxed);
    }

    /// The messages that wait for the PE of this rank, as far as it has said so.
    pub(super) fn waiting(&self, rank: usize) -> u32 {
        self.waiting[rank].load(Ordering::Relaxed)
    }

    /// The same of all PEs of the node.
    pub(super) fn all_waiting(&self) -> Vec<u32> {
        (0..self.waiting.len()).map(|rank| self.waiting(rank)).collect()
    }

    /// A singleton is created on the PE of this rank, which has yet to say so.
    pub(super) fn note_created(&self, rank: usize) {
        self.waiting[rank].fetch_add(1, Ordering::Relaxed);
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

/// What the PEs of other nodes said of themselves, by node. It takes memory for those that were asked, or where singletons were created.
pub(super) struct Hearsay {
    by_node: Sparse<Heard>,
    pes_per_node: u32,
}

/// What the PEs of another node said of themselves.
struct Heard {
    /// Whether an answer is under way.
    is_asked: AtomicBool,
    /// By rank.
    pes: Box<[Reckoned]>,
}

/// What waits for a PE of another node.
#[derive(Default)]
struct Reckoned {
    /// Messages that waited when the PE last said so, and singletons that were created there from here since its node was asked.
    waiting: AtomicU32,
    /// Those singletons alone.
    created: AtomicU32,
}

impl Hearsay {
    pub(super) fn new(nodes: u32, pes_per_node: u32) -> Self {
        Self { by_node: Sparse::new(nodes as usize), pes_per_node }
    }

    fn known(&self, node: NodeId) -> Option<&Heard> {
        self.by_node.get(node.0 as usize)
    }

    fn of(&self, node: NodeId) -> &Heard {
        self.by_node.get_or_make(node.0 as usize, || Heard {
            is_asked: AtomicBool::new(false),
            pes: (0..self.pes_per_node).map(|_| Reckoned::default()).collect(),
        })
    }

    /// The messages that wait for a PE, as far as this node knows: none for one that was never heard of.
    pub(super) fn waiting(&self, node: NodeId, rank: usize) -> u32 {
        self.known(node).map_or(0, |heard| heard.pes[rank].waiting.load(Ordering::Relaxed))
    }

    /// A singleton is created from here on the PE of this rank.
    pub(super) fn note_created(&self, node: NodeId, rank: usize) {
        let reckoned = &self.of(node).pes[rank];
        reckoned.waiting.fetch_add(1, Ordering::Relaxed);
        reckoned.created.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether to ask a node now: not while an answer is under way.
    pub(super) fn begin_to_ask(&self, node: NodeId) -> bool {
        let heard = self.of(node);
        let begins = !heard.is_asked.swap(true, Ordering::Relaxed);
        if begins {
            heard.pes.iter().for_each(|reckoned| reckoned.created.store(0, Ordering::Relaxed));
        }
        begins
    }

    /// Takes a node's answer: what waits for each of its PEs.
    ///
    /// # Errors
    /// When nobody asked the node, or the answer is about other PEs than it has, in words.
    pub(super) fn hear(&self, node: NodeId, waiting: &[u32]) -> Result<(), String> {
        let heard = self.known(node).filter(|heard| heard.is_asked.load(Ordering::Relaxed));
        let heard = heard.ok_or("loads of PEs that nobody asked for")?;
        if waiting.len() != heard.pes.len() {
            return Err(format!("loads of {} PEs from a node of {}", waiting.len(), heard.pes.len()));
        }
        for (reckoned, said) in heard.pes.iter().zip(waiting) {
            let created = reckoned.created.load(Ordering::Relaxed);
            if created > 0 {
                chare_lrts::sometimes!(
                    "singletons were created on a PE while its node was asked for its load"
                );
            }
            reckoned.waiting.store(said.saturating_add(created), Ordering::Relaxed);
        }
        heard.is_asked.store(false, Ordering::Relaxed);
        Ok(())
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
    fn what_is_created_on_a_pe_waits_there_until_it_says_what_does() {
        let bed = Bed::new(2);
        bed.say_waiting(0, 7);
        bed.note_created(0);
        bed.note_created(1);
        assert_eq!(bed.all_waiting(), [8, 1]);
        bed.say_waiting(0, 2);
        assert_eq!(bed.all_waiting(), [2, 1]);
    }

    #[test]
    fn an_answer_does_not_know_of_what_was_created_after_the_question() {
        let (hearsay, there) = (Hearsay::new(3, 2), NodeId(2));
        let waiting = || [0, 1].map(|rank| hearsay.waiting(there, rank));
        hearsay.note_created(there, 1);
        assert_eq!(
            (waiting(), hearsay.begin_to_ask(there), hearsay.begin_to_ask(there)),
            ([0, 1], true, false)
        );
        hearsay.note_created(there, 1);
        hearsay.hear(there, &[5, 3]).expect("it was asked");
        assert_eq!((waiting(), hearsay.begin_to_ask(there)), ([5, 4], true), "it may be asked again");
    }

    #[test]
    fn an_answer_that_nobody_asked_for_or_of_other_pes_is_refused() {
        let hearsay = Hearsay::new(3, 2);
        hearsay.note_created(NodeId(1), 0);
        let refused = |node, waiting: &[u32]| hearsay.hear(NodeId(node), waiting).expect_err("it is refused");
        assert!((0..4).all(|node| refused(node, &[0, 0]).contains("nobody asked")));
        assert!(hearsay.begin_to_ask(NodeId(1)));
        assert_eq!(refused(1, &[0]), "loads of 1 PEs from a node of 2");
    }
}
