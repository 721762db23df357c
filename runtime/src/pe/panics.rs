//! Panics of user code on PE threads: caught, and described with the place where they began.

use super::Pe;
use std::any::Any;
use std::cell::RefCell;
use std::panic::AssertUnwindSafe;

thread_local! {
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Makes panics on PE threads silent and remembers their place: whoever catches one reports it, once. Other panics go to the hook that
/// was there before.
pub(crate) fn install_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if Pe::try_current(|_| ()).is_some() {
                PLACE.set(panic.location().map(ToString::to_string));
            } else {
                before(panic);
            }
        }));
    });
}

/// Runs code of the user.
///
/// # Errors
/// The message and the place of a panic.
pub(crate) fn catch<R>(body: impl FnOnce() -> R) -> Result<R, String> {
    std::panic::catch_unwind(AssertUnwindSafe(body)).map_err(|payload| describe(&*payload))
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
    match PLACE.take() {
        Some(place) => format!("{message} (at {place})"),
        None => message,
    }
}
