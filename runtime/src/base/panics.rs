//! Panics of user code: caught, and described with the place where they began.
//!
//! The panic hook, which alone learns of the place, leaves it with the thread by [`note`]; whoever catches the panic takes it from there.

use std::any::Any;
use std::cell::RefCell;
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::pin::pin;
use std::task::Poll;

/// How the message of tokio begins where its thread is missing, and what to do then.
const NO_REACTOR: &str = "there is no reactor running";
const REACTOR_HINT: &str = "; in an `async` entry, await what needs tokio by `chare::io(async { .. }).await`";

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Notes where the panic began that the hook was called for.
pub(crate) fn note(panic: &PanicHookInfo<'_>) {
    PLACE.set(panic.location().map(ToString::to_string));
}

/// Runs code of the user.
///
/// # Errors
/// The message and the place of a panic.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(AssertUnwindSafe(body)).map_err(|payload| describe(&*payload))
}

/// Awaits a future of the user; one that has panicked is not polled again.
///
/// # Errors
/// The message and the place of a panic.
pub(crate) async fn catch_awaited<F: Future>(future: F) -> Result<F::Output, String> {
    let mut future = pin!(future);
    poll_fn(|context| match catch(|| future.as_mut().poll(context)) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(cause) => Poll::Ready(Err(cause)),
    })
    .await
}

/// Whether a panic says that nobody reads standard output any more: `println!` has no other way to say so.
pub(crate) fn is_closed_output(cause: &str) -> bool {
    cause.starts_with("failed printing to stdout: Broken pipe")
}

fn describe(payload: &(dyn Any + Send)) -> String {
    let message = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".to_owned());
    let hint = if message.starts_with(NO_REACTOR) { REACTOR_HINT } else { "" };
    match PLACE.take() {
        Some(place) => format!("{message} (at {place}){hint}"),
        None => message + hint,
    }
}
