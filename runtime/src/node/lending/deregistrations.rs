//! Deregistrations under way: registrations that have ended while a transfer still touches their memory, each with a closure that hands
//! the memory back.
//!
//! Each deregistration under way counts as a message on its way: there is no quiescence before the memory is handed back.

use chare_lrts::{Held, RegionKey};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Closure that runs on node `N` with the memory when the last transfer is off it.
type HandBack<N> = Box<dyn FnOnce(&N, Held) + Send>;

/// The deregistrations under way on one node.
pub(crate) struct Deregistrations<N> {
    waiting: Mutex<Vec<(RegionKey, HandBack<N>)>>,
    /// Length of `waiting`, for the threads that poll.
    count: AtomicUsize,
}

impl<N> Default for Deregistrations<N> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<N> Deregistrations<N> {
    /// Whether any memory waits to be handed back.
    pub(crate) fn are_waiting(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Ends a registration by `deregister`. If no transfer touches the memory, gives it back at once together with `hand_back`; else
    /// `hand_back` waits for [`Deregistrations::take`].
    pub(crate) fn end<F: FnOnce(&N, Held) + Send + 'static>(
        &self,
        key: RegionKey,
        deregister: impl FnOnce() -> Option<Held>,
        hand_back: F,
    ) -> Option<(Held, F)> {
        // The lock is held meanwhile, so that the thread that reaps the memory finds the closure for it.
        let mut waiting = self.waiting.lock();
        match deregister() {
            Some(held) => Some((held, hand_back)),
            None => {
                waiting.push((key, Box::new(hand_back)));
                self.count.store(waiting.len(), Ordering::Relaxed);
                None
            }
        }
    }

    /// The closure for the memory of a registration that is free now.
    pub(crate) fn take(&self, key: &RegionKey) -> Option<HandBack<N>> {
        let mut waiting = self.waiting.lock();
        let position = waiting.iter().position(|(ended, _)| ended == key)?;
        let hand_back = waiting.swap_remove(position).1;
        self.count.store(waiting.len(), Ordering::Relaxed);
        Some(hand_back)
    }

    /// Drops the closures that will never run, when the job is over: a closure holds on to its node.
    pub(crate) fn clear(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        self.count.store(0, Ordering::Relaxed);
        drop(waiting);
    }
}
