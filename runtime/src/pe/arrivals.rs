//! Arrivals at a set of futures: the numbers of those whose values have come, in that order.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::task::Waker;

/// The numbers of the futures whose values have come, and the task that waits for one.
#[derive(Default)]
pub(super) struct Arrivals {
    numbers: RefCell<VecDeque<usize>>,
    waker: RefCell<Option<Waker>>,
}

impl Arrivals {
    /// Adds the number of a future whose value has come, and wakes the task.
    pub(super) fn add(&self, number: usize) {
        self.numbers.borrow_mut().push_back(number);
        let waker = self.waker.borrow_mut().take();
        waker.inspect(Waker::wake_by_ref);
    }

    /// Takes the number that was added first.
    pub(super) fn take(&self) -> Option<usize> {
        self.numbers.borrow_mut().pop_front()
    }

    /// Has a task woken when the next number is added.
    pub(super) fn wake(&self, waker: &Waker) {
        *self.waker.borrow_mut() = Some(waker.clone());
    }

    /// The address of the waker of the task that waits.
    pub(super) fn waker(&self) -> Option<*const ()> {
        self.waker.borrow().as_ref().map(Waker::data)
    }
}
