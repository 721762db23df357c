//! The current PE: a borrow that [`Pe::enter`] lends to every function that it calls on its thread.
//!
//! Every proxy call asks for the current PE. A counted handle in a cell that can be locked costs a tenth of a call; so the current PE is
//! a plain pointer, set and reset by one function, read by one other.

#![expect(unsafe_code, reason = "a borrow that passes through a thread-local")]

use super::Pe;
use std::cell::Cell;
use std::ptr;
use std::rc::Rc;

thread_local! {
    /// Null, or the handle that the innermost `enter` of this thread borrows.
    static CURRENT: Cell<*const Rc<Pe>> = const { Cell::new(ptr::null()) };
}

impl Pe {
    /// Makes this PE the current one while `body` runs, and ends that also when `body` panics.
    pub(crate) fn enter<R>(self: &Rc<Self>, body: impl FnOnce() -> R) -> R {
        struct Restore(*const Rc<Pe>);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _restore = Restore(CURRENT.replace(self));
        body()
    }

    /// Runs `body` with the current PE.
    ///
    /// # Panics
    /// Outside a job's entries.
    #[inline]
    pub(crate) fn current<R>(body: impl FnOnce(&Rc<Self>) -> R) -> R {
        Self::try_current(body).expect(
            "this needs a PE: call it from an entry method, from an async entry or from the closure given to `chare::run`; any other \
             thread or task uses the job's handle, `let job = chare::job_handle();` on a PE or `Job::start()`, and then \
             `job.run(move || proxy.entry(..))`",
        )
    }

    /// Runs `body` with the current PE; `None` outside of [`Pe::enter`].
    #[inline]
    pub(crate) fn try_current<R>(body: impl FnOnce(&Rc<Self>) -> R) -> Option<R> {
        let pe = CURRENT.get();
        // SAFETY: the pointer is null, or borrowed by an `enter` of this thread that has not returned: `enter` resets the pointer to what
        // it was before when it returns or unwinds. `body` cannot keep the reference longer than this call, and that `enter` outlives
        // this call.
        unsafe { pe.as_ref() }.map(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pe_is_current_outside() {
        assert!(Pe::try_current(|_| ()).is_none());
    }
}
