//! Registrations that have ended, but whose memory a transfer still touches: what is to be done with each when it is free.
//!
//! What waits counts as a message on its way: there is no quiescence before it is handed back.

use chare_lrts::{Held, RegionKey};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What runs on node `N` with the memory when the last transfer is off it.
type HandBack<N> = Box<dyn FnOnce(&N, Held) + Send>;

/// See the file's head.
pub(crate) struct Deregistrations<N> {
    waiting: Mutex<Vec<(RegionKey, HandBack<N>)>>,
    /// Length of `waiting`, for those who poll.
    count: AtomicUsize,
}

impl<N> Default for Deregistrations<N> {
    fn default() -> Self {
        Self { waiting: Mutex::default(), count: AtomicUsize::new(0) }
    }
}

impl<N> Deregistrations<N> {
    /// Whether anything waits to be handed back.
    pub(crate) fn are_waiting(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Ends a registration by `deregister`. Gives the memory back at once, with what is to run, if no transfer touches it; else that
    /// waits for [`Deregistrations::take`].
    pub(crate) fn end<F: FnOnce(&N, Held) + Send + 'static>(
        &self,
        key: RegionKey,
        deregister: impl FnOnce() -> Option<Held>,
        hand_back: F,
    ) -> Option<(Held, F)> {
        // Held meanwhile, so that whoever reaps the memory finds what is to be done with it.
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

    /// What is to run with the memory of a registration that is free now.
    pub(crate) fn take(&self, key: &RegionKey) -> Option<HandBack<N>> {
        let mut waiting = self.waiting.lock();
        let position = waiting.iter().position(|(ended, _)| ended == key)?;
        let hand_back = waiting.swap_remove(position).1;
        self.count.store(waiting.len(), Ordering::Relaxed);
        Some(hand_back)
    }

    /// Drops what will never be handed back, when the job is over: what waits here holds on to its node.
    pub(crate) fn clear(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        self.count.store(0, Ordering::Relaxed);
        drop(waiting);
    }
}
