//! Put targets whose registration has ended, but which a transfer still touches.

use chare_lrts::{Held, MemoryMut, RegionKey, Regions};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What runs with the memory when the last transfer is off it.
type HandBack = Box<dyn FnOnce(MemoryMut) + Send>;

/// See the file's head.
#[derive(Default)]
pub(crate) struct Closing {
    waiting: Mutex<Vec<(RegionKey, HandBack)>>,
    /// Length of `waiting`, for those who poll.
    count: AtomicUsize,
}

impl Closing {
    /// Ends a registration; `hand_back` runs now or from [`Closing::reap`].
    pub(crate) fn close(&self, regions: &Regions, key: &RegionKey, hand_back: HandBack) {
        let mut waiting = self.waiting.lock();
        match regions.deregister(key) {
            Ok(Some(Held::Target(memory))) => {
                drop(waiting);
                hand_back(memory);
            }
            Ok(None) => {
                waiting.push((*key, hand_back));
                self.count.store(waiting.len(), Ordering::Relaxed);
            }
            Ok(Some(Held::Source(_))) | Err(_) => unreachable!("a target is closed once, by its owner"),
        }
    }

    /// Whether anything waits to be handed back.
    pub(crate) fn is_waiting(&self) -> bool {
        self.count.load(Ordering::Relaxed) > 0
    }

    /// Frees memory of ended registrations, hands back what was closed. Returns whether there was any.
    pub(crate) fn reap(&self, regions: &Regions) -> bool {
        let drained = regions.reap();
        let any = !drained.is_empty();
        for (key, held) in drained {
            let closed = {
                let mut waiting = self.waiting.lock();
                let position = waiting.iter().position(|(closing, _)| *closing == key);
                let closed = position.map(|position| waiting.swap_remove(position).1);
                self.count.store(waiting.len(), Ordering::Relaxed);
                closed
            };
            if let (Some(hand_back), Held::Target(memory)) = (closed, held) {
                hand_back(memory);
            }
        }
        any
    }
}
