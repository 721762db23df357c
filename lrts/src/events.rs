//! Events in words for humans: they go to the program's `tracing` subscriber or, on threads that have none, to standard error.
//!
//! A program sets the subscriber that it likes, at any time. None is set for it, which would be in the way of that. The events here are
//! rare; what happens for each message is counted, not told.

use std::fmt::Display;
use std::io::Write;
use tracing::subscriber::NoSubscriber;

/// The target of all events, by which subscribers filter them.
pub const TARGET: &str = "chare";

/// Tells of a failure.
pub fn error(text: impl Display) {
    if !is_heard() {
        return print(text);
    }
    tracing::error!(target: TARGET, "{text}");
}

/// Tells of something that should not be.
pub fn warn(text: impl Display) {
    if !is_heard() {
        return print(text);
    }
    tracing::warn!(target: TARGET, "{text}");
}

/// Tells of something that users asked for or should know.
pub fn info(text: impl Display) {
    if !is_heard() {
        return print(text);
    }
    tracing::info!(target: TARGET, "{text}");
}

/// Tells a subscriber of a step that went well; nobody else hears of it.
pub fn debug(text: impl Display) {
    tracing::debug!(target: TARGET, "{text}");
}

/// Whether this thread has a subscriber.
pub fn is_heard() -> bool {
    !tracing::dispatcher::get_default(|subscriber| subscriber.is::<NoSubscriber>())
}

fn print(text: impl Display) {
    // Nobody may be reading any more; that is no reason to end.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt;
    use std::sync::{Arc, Mutex};
    use tracing::field::{Field, Visit};
    use tracing::span;

    /// A subscriber that keeps what it hears.
    #[derive(Clone, Default)]
    struct Ear(Arc<Mutex<Vec<String>>>);

    impl Visit for Ear {
        fn record_debug(&mut self, _field: &Field, value: &dyn fmt::Debug) {
            self.0.lock().unwrap().push(format!("{value:?}"));
        }
    }

    impl tracing::Subscriber for Ear {
        fn enabled(&self, _metadata: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _span: &span::Attributes<'_>) -> span::Id {
            span::Id::from_u64(1)
        }

        fn record(&self, _span: &span::Id, _values: &span::Record<'_>) {}

        fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            let metadata = event.metadata();
            self.0.lock().unwrap().push(format!("{} {}", metadata.level(), metadata.target()));
            event.record(&mut self.clone());
        }

        fn enter(&self, _span: &span::Id) {}

        fn exit(&self, _span: &span::Id) {}
    }

    #[test]
    fn a_subscriber_hears_what_else_standard_error_shows() {
        let ear = Ear::default();
        assert!(!is_heard());
        tracing::subscriber::with_default(ear.clone(), || {
            assert!(is_heard());
            warn("something is odd");
            error("something is wrong");
        });
        let heard = ear.0.lock().unwrap().clone();
        assert_eq!(heard, ["WARN chare", "something is odd", "ERROR chare", "something is wrong"]);
    }
}
