//! Epitaphs: the words for calls that come when their chare is gone, where a library that destroys its own chares knows what its user called.

use std::cell::RefCell;
use std::collections::BTreeMap;

/// The words for the calls of one chare type.
#[derive(Clone, Copy)]
pub(crate) struct Epitaph {
    /// What the user called.
    pub(crate) call: &'static str,
    /// Why it is refused, and what to do.
    pub(crate) cause: &'static str,
}

/// The epitaphs on a PE, by the names of the chare types.
#[derive(Default)]
pub(crate) struct Epitaphs(RefCell<BTreeMap<&'static str, Epitaph>>);

impl Epitaphs {
    /// Has this said from now on.
    pub(crate) fn set(&self, chare: &'static str, epitaph: Epitaph) {
        self.0.borrow_mut().insert(chare, epitaph);
    }

    /// What is said, if a library has words of its own.
    pub(crate) fn of(&self, chare: &str) -> Option<Epitaph> {
        self.0.borrow().get(chare).copied()
    }
}
