//! Releases of a step: memory of other nodes that it let go of, to be told when it is over.

use crate::model::nocopy::Lender;
use std::cell::RefCell;

/// What a step of a PE has released, and how many bytes of each were taken. What the step sends goes first: it is waited for, mostly by the
/// lender.
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

    /// One of them; there may be more afterwards: what is freed may have an owner that runs code of the user's.
    pub(crate) fn pop(&self) -> Option<(Lender, u64)> {
        self.0.borrow_mut().pop()
    }
}
