//! Releases of a step: memory of other nodes that the step let go of; the lenders are told by what the step sends them, or when it is
//! over.

use crate::model::envelope::Released;
use crate::model::ids::NodeId;
use crate::model::nocopy::Lender;
use smallvec::SmallVec;
use std::cell::RefCell;

chare_lrts::knob! {
    /// Releases that one message carries at most: more of them hardly come in one step, and would make a long message of a short one.
    fn carried_max() -> usize = 8, or [0, 1];
}

/// Loans that a step of a PE has released, each with the number of bytes that were taken. The messages that the step sends go first:
/// somebody waits for them, mostly the lender.
#[derive(Default)]
pub(crate) struct Releases(RefCell<Vec<(Lender, u64)>>);

impl Releases {
    pub(crate) fn add(&self, lender: Lender, bytes: u64) {
        self.0.borrow_mut().push((lender, bytes));
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.borrow().is_empty()
    }

    /// Takes the releases of a node's memory that a message to that node can carry, and names each by its token.
    #[inline]
    pub(crate) fn take_for(&self, node: NodeId) -> SmallVec<[Released; 1]> {
        let mut taken = SmallVec::new();
        if !self.is_empty() {
            self.0.borrow_mut().retain(|(lender, bytes)| {
                let is_carried = lender.node == node && taken.len() < carried_max();
                if is_carried {
                    taken.push([lender.token, *bytes]);
                }
                !is_carried
            });
        }
        taken
    }

    /// One release. There may be more of them afterwards: the freed memory may have an owner that runs code of the user.
    pub(crate) fn pop(&self) -> Option<(Lender, u64)> {
        self.0.borrow_mut().pop()
    }
}
