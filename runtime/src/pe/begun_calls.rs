//! Begun calls: those that have come to a chare of this PE, and wait there for their buffers.
//!
//! 1. A call that waits belongs to the chare that it has come to, whose post method may have run for it: it ends with that chare. One that
//!    is made later under the same index never sees it.
//! 2. The table keeps no chare alive: one that is destroyed goes at once, and with it the posts that it has kept.

use crate::model::ids::BegunCall;
use crate::model::registry::AnyChare;
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

/// The begun calls of one PE, with their chares.
#[derive(Default)]
pub(crate) struct BegunCalls {
    chares: RefCell<FxHashMap<BegunCall, Weak<dyn AnyChare>>>,
    last: Cell<u64>,
}

impl BegunCalls {
    /// Takes a call in that waits at a chare.
    pub(crate) fn enter(&self, chare: &Rc<dyn AnyChare>) -> BegunCall {
        let call = BegunCall(self.last.get() + 1);
        self.last.set(call.0);
        self.chares.borrow_mut().insert(call, Rc::downgrade(chare));
        call
    }

    /// Whether a call waits at a chare.
    pub(crate) fn wait_at(&self, chare: &Rc<dyn AnyChare>) -> bool {
        self.chares.borrow().values().any(|waiting| std::ptr::addr_eq(waiting.as_ptr(), Rc::as_ptr(chare)))
    }

    /// How many wait.
    #[cfg(feature = "sim")]
    pub(crate) fn count(&self) -> usize {
        self.chares.borrow().len()
    }

    /// Takes a call out that waits no more. Returns its chare, unless that is gone.
    pub(crate) fn leave(&self, call: BegunCall) -> Option<Rc<dyn AnyChare>> {
        let chare = self.chares.borrow_mut().remove(&call)?;
        chare.upgrade().filter(|chare| !chare.identity().is_gone())
    }
}
