//! Panics of user code: caught, and described with the place where they began.
//!
//! 1. The panic hook, which alone learns of the place, leaves it with the thread by [`note`]; whoever catches the panic takes it from there.
//! 2. The place is the user's own. Of a panic in a library that is found in the stack, and costs the first time some hundred milliseconds.
//! 3. What only hands on the cause of another panic or failure is [`raise`]d: its place says nothing.

#![expect(clippy::disallowed_methods, reason = "names the thread that panicked")]

use std::any::Any;
use std::backtrace::Backtrace;
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, PanicHookInfo};
use std::pin::pin;
use std::task::Poll;

/// How the message of tokio begins where its thread is missing, and what to do then.
const NO_REACTOR: &str = "there is no reactor running";
const REACTOR_HINT: &str = "; in an `async` entry, await what needs tokio by `chare::io(async { .. }).await`";

/// A panic, as the hook knows it.
#[derive(Clone)]
struct Noted {
    message: String,
    /// None where it says nothing.
    place: Option<String>,
}

thread_local! {
    /// The panic that the hook of this thread was called for last, until somebody catches it.
    static NOTED: RefCell<Option<Noted>> = const { RefCell::new(None) };

    /// Whether the panic that the hook is called for next has no place.
    static RAISED: Cell<bool> = const { Cell::new(false) };
}

/// Panics because of something that went wrong elsewhere, which the cause names.
pub(crate) fn raise(cause: String) -> ! {
    RAISED.set(true);
    std::panic::panic_any(cause)
}

/// Notes the panic that the hook was called for: its message and its place, and the user's own line where a library panicked. Prints the
/// whole stack if `RUST_BACKTRACE=full` asks for it: an error is one line, also where the variable is set for everything.
pub(crate) fn note(panic: &PanicHookInfo<'_>) {
    let message = panic.payload_as_str().unwrap_or(NO_MESSAGE).to_owned();
    let location = panic.location().map(ToString::to_string).filter(|_| !RAISED.replace(false));
    let place = location.map(|place| {
        if !is_library(&place) {
            return place;
        }
        // A stack is costly to read: only who panics in a library pays for it.
        let stack = Backtrace::force_capture().to_string();
        match users_place(&stack) {
            // A line of this crate says nothing to its user.
            Some(caller) if is_own(&place) => caller.to_owned(),
            Some(caller) => format!("{place}, called at {caller}"),
            None => place,
        }
    });
    if std::env::var_os("RUST_BACKTRACE").is_some_and(|wanted| wanted == "full") {
        let stack = Backtrace::force_capture();
        let thread = std::thread::current();
        let place = place.as_ref().map_or_else(String::new, |place| format!(" (at {place})"));
        eprintln!("{message}{place}, on {}:\n{stack}", thread.name().unwrap_or("a thread"));
    }
    NOTED.set(Some(Noted { message, place }));
}

/// What is known of the panic that unwinds this thread now.
pub(crate) fn unwinding() -> String {
    let noted = NOTED.with_borrow(Option::clone);
    noted.map_or_else(|| NO_MESSAGE.to_owned(), |Noted { message, place }| tell(&message, place.as_deref()))
}

/// The innermost line of a stack, as the standard library writes it, that belongs to no library. Without line tables there is none.
fn users_place(stack: &str) -> Option<&str> {
    let places = stack.lines().filter_map(|line| line.trim_start().strip_prefix("at "));
    // C's library has lines, too, and starts every thread.
    places.filter(|place| place.contains(".rs:")).find(|place| !is_library(place))
}

/// Whether a place is in the standard library, in a crate that Cargo has fetched, or in this one.
fn is_library(place: &str) -> bool {
    const FETCHED: [&str; 4] = ["/rustc/", "/library/std/", "/registry/src/", "/git/checkouts/"];
    is_own(place) || FETCHED.iter().any(|fetched| place.contains(fetched))
}

/// Whether a place is in this crate.
fn is_own(place: &str) -> bool {
    const THIS_CRATE: &str = {
        let (path, own) = (file!(), "base/panics.rs");
        path.split_at(path.len() - own.len()).0
    };
    place.contains(THIS_CRATE)
}

const NO_MESSAGE: &str = "a panic without a message";

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
        .unwrap_or_else(|| NO_MESSAGE.to_owned());
    // A payload that was thrown again, without the hook, is not the one that was noted.
    let noted = NOTED.take().filter(|noted| noted.message == message);
    tell(&message, noted.as_ref().and_then(|noted| noted.place.as_deref()))
}

fn tell(message: &str, place: Option<&str>) -> String {
    let hint = if message.starts_with(NO_REACTOR) { REACTOR_HINT } else { "" };
    match place {
        Some(place) => format!("{message} (at {place}){hint}"),
        None => format!("{message}{hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_users_line_is_the_innermost_that_belongs_to_no_library() {
        let stack = "\
   0: std::panicking::begin_panic_handler
             at /rustc/abc/library/std/src/panicking.rs:689:5
   1: tokio::net::TcpStream::connect
             at /root/.cargo/registry/src/index.crates.io-1/tokio-1.0.0/src/net.rs:7:1
   2: app::Fetcher::fetch
             at ./src/main.rs:42:9
   3: app::main
             at ./src/main.rs:99:5";
        assert_eq!(users_place(stack), Some("./src/main.rs:42:9"));
        assert_eq!(
            users_place("   0: app::main\n   1: start_thread\n             at ./nptl/pthread_create.c:442:8"),
            None
        );
        assert!(is_library(file!()) && !is_library("src/base/panics.rs:1:1"));
    }
}
