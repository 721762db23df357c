//! Watcher of the network: the one idle PE that sleeps on it, unless spinning PEs poll it.
//!
//! 1. At most one PE of a node is the watcher: it has armed the network and sleeps until something arrives.
//! 2. Polling the network takes the watcher's arming back. So no PE polls while there is a watcher; a PE that polled all the
//!    same, because the watcher came a moment later, wakes the watcher.
//! 3. A PE that starts to spin, or to offer its core to others again and again, wakes the watcher and polls in its place, because it
//!    notices an arrival a hundred times sooner. While PEs spin, no PE becomes the watcher.
//! 4. A PE that wakes up to work while there is no watcher wakes a parked PE, which may become the watcher, because entries may take
//!    long. A PE that is about to park because there is a watcher looks again once it has announced its sleep.
//! 5. Rules 2 to 4 are store-load handshakes: each side stores (watcher, spinning, how it sleeps), passes its fence (heavy on the side
//!    that is about to sleep; see [`mod@crate::base::fence`]), and loads what the other side stores; at least one of the two sees the
//!    other's store. `tests/model` checks this protocol.

use crate::base::sync::{AtomicBool, AtomicUsize, Ordering, heavy, light};

/// The watcher of one node's network, and the number of PEs that spin.
#[derive(Debug)]
pub(crate) struct Watch {
    has_watcher: AtomicBool,
    spinning: AtomicUsize,
}

/// The outcome for a PE that tries to become the watcher.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entrance {
    /// The PE is the watcher now.
    Entered,
    /// Another PE is the watcher.
    Watched,
    /// PEs spin, so none becomes the watcher.
    Spun,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { has_watcher: AtomicBool::new(false), spinning: AtomicUsize::new(0) }
    }

    /// Whether a PE sleeps on the network; if so, the caller leaves the network alone.
    #[inline]
    pub(crate) fn has_watcher(&self) -> bool {
        light();
        self.has_watcher.load(Ordering::Relaxed)
    }

    /// Becomes the watcher, unless there is one or PEs spin. The new watcher sleeps, then calls [`Watch::leave`].
    pub(crate) fn try_enter(&self) -> Entrance {
        if self.has_watcher.swap(true, Ordering::AcqRel) {
            return Entrance::Watched;
        }
        heavy();
        if self.spinning.load(Ordering::Relaxed) > 0 {
            self.leave();
            return Entrance::Spun;
        }
        Entrance::Entered
    }

    pub(crate) fn leave(&self) {
        // Not a store: loom lets a store be overwritten by a swap that took place before it.
        self.has_watcher.swap(false, Ordering::AcqRel);
    }

    /// Starts to spin; returns whether there is a watcher to wake.
    pub(crate) fn start_spinning(&self) -> bool {
        self.spinning.fetch_add(1, Ordering::AcqRel);
        self.has_watcher()
    }

    pub(crate) fn stop_spinning(&self) {
        self.spinning.fetch_sub(1, Ordering::AcqRel);
    }
}
