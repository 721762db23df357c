//! Blocking wait of a thread for a future, without an executor.

#![expect(clippy::disallowed_methods, reason = "parks a thread outside the job")]

use super::unpark;
use std::pin::pin;
use std::task::{Context, Poll};

/// Blocks the calling thread until the future is over.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = unpark::waker();
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}
