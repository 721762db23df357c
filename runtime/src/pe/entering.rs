//! Execution of entries, and of calls that entries make like functions: each is recorded while it runs, so that failures can name it.

use super::Pe;
use super::running::Running;
use crate::model::registry::{AnyChare, Identity};
use std::rc::Rc;

impl Pe {
    /// Runs `body` and records it as `running` meanwhile. Entries do not run inside each other. After a panic the record stays: the
    /// scheduler names the failed entry by it.
    pub(crate) fn run_as<R>(&self, running: Running, body: impl FnOnce() -> R) -> R {
        self.running.begin(running);
        let result = body();
        self.running.end();
        result
    }

    /// Like [`Pe::run_as`], for an entry of a chare, which nearly all work is: writes no more cells than change. Gives the chare back.
    #[inline(always)]
    pub(crate) fn run_entry<R>(
        &self,
        chare: Rc<dyn AnyChare>,
        entry: &'static str,
        reference: u64,
        body: impl FnOnce(&Rc<dyn AnyChare>) -> R,
    ) -> (R, Rc<dyn AnyChare>) {
        let lent = Rc::clone(&chare);
        self.running.begin_entry(chare, entry, reference);
        let result = body(&lent);
        (result, self.running.end_entry().unwrap_or(lent))
    }

    /// Like [`Pe::run_as`], for a call from inside an entry, like a function.
    pub(crate) fn run_inside<R>(&self, running: Running, body: impl FnOnce() -> R) -> R {
        self.inside.borrow_mut().push(running);
        let result = body();
        let over = self.inside.borrow_mut().pop();
        drop(over);
        result
    }

    /// The innermost entry, task or call that is running.
    pub(crate) fn running(&self) -> Running {
        self.inside.borrow().last().cloned().unwrap_or_else(|| self.running.get())
    }

    /// Runs `body` with the identity of the chare that is running.
    ///
    /// # Panics
    /// If no chare is running: in `main`.
    pub(crate) fn with_running<R>(&self, body: impl FnOnce(&Identity) -> R) -> R {
        body(self.running().identity().expect("this needs a chare: call it from an entry method"))
    }
}
