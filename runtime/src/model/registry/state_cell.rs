//! State cells: the user's state of one chare, lent to one borrower at a time, which may leave its cell for good.
//!
//! 1. The flag of the [`RefCell`] is the only mark. A state that has left is borrowed for ever: the borrow by which it left is never given
//!    back. So whoever looks whether the state is free sees at once that there is none, and the cell is as large as the `RefCell` alone.
//! 2. The cell drops the state if it can be borrowed, and so not when it has left.

#![expect(unsafe_code, reason = "takes a state out of its cell without a second mark that says so")]

use std::cell::{RefCell, RefMut};
use std::mem::{ManuallyDrop, forget, needs_drop};

/// The state of a chare, or the place from which it has left.
pub(super) struct StateCell<C>(RefCell<ManuallyDrop<C>>);

impl<C> StateCell<C> {
    pub(super) fn new(state: C) -> Self {
        Self(RefCell::new(ManuallyDrop::new(state)))
    }

    /// Borrows the state; `None` while it is borrowed, and once it has left.
    #[inline]
    pub(super) fn borrow(&self) -> Option<RefMut<'_, C>> {
        let state = self.0.try_borrow_mut().ok()?;
        Some(RefMut::map(state, |state| &mut **state))
    }

    /// Whether the state is here and nobody borrows it.
    #[inline]
    pub(super) fn is_free(&self) -> bool {
        self.0.try_borrow_mut().is_ok()
    }

    /// Takes the state out, for ever; `None` as for [`StateCell::borrow`].
    pub(super) fn take(&self) -> Option<C> {
        let mut state = self.0.try_borrow_mut().ok()?;
        // SAFETY: nobody reads the state here again. It can be read only by borrowing it, as the drop of the cell does, too, and that fails from
        // now on: this borrow excludes all others and is never given back.
        let taken = unsafe { ManuallyDrop::take(&mut state) };
        forget(state);
        Some(taken)
    }
}

impl<C> Drop for StateCell<C> {
    fn drop(&mut self) {
        if needs_drop::<C>() && self.is_free() {
            // SAFETY: it can be borrowed, so it has not been taken; and the cell is gone after this.
            unsafe { ManuallyDrop::drop(self.0.get_mut()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::rc::Rc;

    /// Counts its drops, and owns memory, which a second drop would free twice.
    struct Counted(Rc<Cell<u32>>, Box<u64>);

    impl Drop for Counted {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    fn counted() -> (StateCell<Counted>, Rc<Cell<u32>>) {
        let drops = Rc::new(Cell::new(0));
        (StateCell::new(Counted(Rc::clone(&drops), Box::new(7))), drops)
    }

    #[test]
    fn a_state_that_stays_is_dropped_once_with_its_cell() {
        let (cell, drops) = counted();
        *cell.borrow().unwrap().1 += 1;
        assert_eq!(*cell.borrow().unwrap().1, 8);
        assert_eq!(drops.get(), 0);
        drop(cell);
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_state_that_leaves_is_whole_and_leaves_nothing_behind() {
        let (cell, drops) = counted();
        let place = cell.borrow().map(|state| &raw const *state.1).unwrap();
        let state = cell.take().unwrap();
        assert!(cell.borrow().is_none() && cell.take().is_none() && !cell.is_free());
        drop(cell);
        assert_eq!(drops.get(), 0, "the cell has nothing to drop");
        assert!(std::ptr::eq(&*state.1, place), "what it owns lies where it lay");
        drop(state);
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_state_that_is_borrowed_does_not_leave() {
        let (cell, drops) = counted();
        let borrow = cell.borrow();
        assert!(cell.take().is_none() && !cell.is_free());
        drop(borrow);
        assert!(cell.is_free());
        assert!(cell.take().is_some());
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_panic_gives_the_borrow_back() {
        let (cell, drops) = counted();
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let _state = cell.borrow();
            panic!("of a user");
        }));
        assert!(panicked.is_err());
        drop(cell.take().unwrap());
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_drop_that_panics_is_not_repeated() {
        struct Panics(Rc<Cell<u32>>, #[expect(dead_code, reason = "would be freed twice")] Box<u64>);
        impl Drop for Panics {
            fn drop(&mut self) {
                self.0.set(self.0.get() + 1);
                panic!("of a user");
            }
        }
        let drops = Rc::new(Cell::new(0));
        let cell = StateCell::new(Panics(Rc::clone(&drops), Box::new(7)));
        assert!(catch_unwind(AssertUnwindSafe(|| drop(cell))).is_err());
        assert_eq!(drops.get(), 1);
    }

    #[test]
    fn a_cell_is_as_large_as_one_from_which_nothing_leaves() {
        assert_eq!(size_of::<StateCell<[u64; 3]>>(), size_of::<RefCell<[u64; 3]>>());
        assert_eq!(size_of::<StateCell<u8>>(), size_of::<RefCell<u8>>());
    }
}
