//! Waker of a thread: whoever wakes it unparks the thread.

#![expect(clippy::disallowed_methods, reason = "it is the thread that runs this which is unparked")]

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// The waker of the calling thread.
pub(crate) fn waker() -> Waker {
    Waker::from(Arc::new(Unpark(std::thread::current())))
}
