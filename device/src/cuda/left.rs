//! What dropped streams leave behind until they are past it.
//!
//! 1. Nothing is asked or dropped under the lock: what a stream keeps is the user's, and may drop another stream, which leaves what it
//!    keeps here.
//! 2. Whoever leaves something when all is closed gets it back, and waits for the stream instead.

use parking_lot::Mutex;

/// None once it is closed.
pub(crate) struct Left<K>(Mutex<Option<Vec<K>>>);

impl<K> Left<K> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new(Some(Vec::new())))
    }

    /// Keeps it, unless all is closed: then it comes back.
    pub(crate) fn leave(&self, kept: K) -> Option<K> {
        match self.0.lock().as_mut() {
            Some(left) => {
                left.push(kept);
                None
            }
            None => Some(kept),
        }
    }

    /// Drops those that are past all. Returns what was still in use when all was closed meanwhile.
    pub(crate) fn sweep(&self, mut is_past_all: impl FnMut(&K) -> bool) -> Vec<K> {
        // Another sweep finds none meanwhile.
        let all = self.0.lock().as_mut().map(std::mem::take).unwrap_or_default();
        let (past, in_use): (Vec<K>, Vec<K>) = all.into_iter().partition(|kept| is_past_all(kept));
        drop(past);
        match self.0.lock().as_mut() {
            Some(left) => {
                left.extend(in_use);
                Vec::new()
            }
            None => in_use,
        }
    }

    /// Takes what is left, once; from then on nothing is kept.
    pub(crate) fn close(&self) -> Vec<K> {
        self.0.lock().take().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    /// Stands for a stream's memory, whose owner drops another stream: that one leaves something, too.
    struct Guard(Arc<Left<Self>>, Option<Box<Self>>);

    impl Drop for Guard {
        fn drop(&mut self) {
            if let Some(next) = self.1.take() {
                assert!(!self.0.0.is_locked(), "a user's guard is dropped under the lock");
                assert!(self.0.leave(*next).is_none());
            }
        }
    }

    #[test]
    fn a_guard_that_drops_a_stream_finds_the_lock_open() {
        let left = Arc::new(Left::new());
        let guard = |next| Guard(Arc::clone(&left), next);
        assert!(left.leave(guard(Some(Box::new(guard(None))))).is_none());
        assert!(left.leave(guard(None)).is_none());
        let mut asked = 0;
        let in_use = left.sweep(|kept| {
            assert!(!left.0.is_locked(), "what asks a stream drops what the stream is past");
            asked += 1;
            kept.1.is_some()
        });
        assert_eq!((asked, in_use.len()), (2, 0));
        assert_eq!(left.close().len(), 2, "one was in use, one came while the other was dropped");
        assert!(left.leave(guard(None)).is_some(), "nobody looks after it any more");
    }

    #[test]
    fn what_is_in_use_when_all_is_closed_comes_back() {
        let left = Left::new();
        assert_eq!(left.leave(1), None);
        let in_use = left.sweep(|_| {
            assert!(left.close().is_empty(), "a sweep has it");
            false
        });
        assert_eq!(in_use, [1]);
    }
}
