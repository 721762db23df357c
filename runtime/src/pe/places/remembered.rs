//! Remembered answers of a PE: where calls of a chare go, and the chare itself if it lives here; a small direct-mapped table.

use crate::model::ids::{ChareId, PeId, Target};
use crate::model::registry::AnyChare;
use std::rc::Rc;

/// Answers of a PE: for the chares that an entry and its neighbours call, in memory that stays in the nearest cache.
pub(crate) const ANSWERS: usize = 256;

/// The same where very many PEs share a process: for the chares that a PE calls itself.
#[cfg(feature = "sim")]
pub(crate) const FEW_ANSWERS: usize = 16;

/// A remembered answer, in a cache line of its own: every call looks at one.
#[repr(align(64))]
pub(super) struct Answer {
    target: Target,
    /// The PE that calls of the target go to.
    pub(super) pe: Option<PeId>,
    /// The chare, if it lives here.
    pub(super) chare: Option<Rc<dyn AnyChare>>,
}

/// A target that no chare has: PEs are fewer.
const NOBODY: Target =
    Target::Chare(ChareId { home: PeId(u32::MAX), creator: PeId(u32::MAX), serial: u32::MAX });

impl Answer {
    fn about(target: Target) -> Self {
        Self { target, pe: None, chare: None }
    }
}

/// The table; see the file's head.
pub(super) struct Remembered {
    answers: Box<[Answer]>,
}

impl Remembered {
    /// Room for so many answers, a power of two.
    pub(super) fn new(answers: usize) -> Self {
        debug_assert!(answers.is_power_of_two());
        Self { answers: (0..answers).map(|_| Answer::about(NOBODY)).collect() }
    }

    /// The answer for a target, if there is one.
    #[inline(always)]
    pub(super) fn get(&self, target: &Target) -> Option<&Answer> {
        let answer = &self.answers[self.position(target)];
        (answer.target == *target).then_some(answer)
    }

    /// The answer for a target, to be added to. An answer for another target in its place is forgotten.
    #[inline]
    pub(super) fn entry(&mut self, target: Target) -> &mut Answer {
        let position = self.position(&target);
        let answer = &mut self.answers[position];
        if answer.target != target {
            *answer = Answer::about(target);
        }
        answer
    }

    /// Forgets the answer for a target. The answer is only a copy: nothing is dropped here.
    #[inline]
    pub(super) fn forget(&mut self, target: Target) {
        let position = self.position(&target);
        let answer = &mut self.answers[position];
        if answer.target == target {
            *answer = Answer::about(NOBODY);
        }
    }

    /// Position of a target; neighbours in an array, in any dimension, hardly share one.
    #[inline(always)]
    fn position(&self, target: &Target) -> usize {
        let number = match target {
            Target::Chare(id) => u64::from(id.serial).wrapping_add(u64::from(id.home.0) << 5),
            Target::Member(collection, index) => {
                let (low, high) = (index.low(), index.high());
                let folded = low.wrapping_add((low >> 32) * 17).wrapping_add(high.wrapping_mul(19));
                folded.wrapping_add(u64::from(collection.serial) << 5)
            }
        };
        number as usize & (self.answers.len() - 1)
    }
}
