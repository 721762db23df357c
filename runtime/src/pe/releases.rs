//! Releases of a step: memory of other nodes that the step let go of; the lenders are told when the step is over.

use crate::model::nocopy::Lender;
use std::cell::RefCell;

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

    /// One release. There may be more of them afterwards: the freed memory may have an owner that runs code of the user.
    pub(crate) fn pop(&self) -> Option<(Lender, u64)> {
        self.0.borrow_mut().pop()
    }
}
