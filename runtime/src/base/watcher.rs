//! Who looks after the network while PEs are idle: spinning PEs poll it, or one sleeping PE watches it.
//!
//! 1. At most one PE of a node is the watcher: it has armed the network and sleeps until something arrives.
//! 2. A look at the network takes the watcher's arming back. So nobody looks while there is a watcher; who looked all the
//!    same, because the watcher came a moment later, wakes it.
//! 3. A PE that starts to spin wakes the watcher and polls in its place, because a spinning PE notices an arrival a
//!    hundred times sooner. While PEs spin, nobody becomes the watcher.
//! 4. A PE that wakes up to work while nobody watches wakes a parked one, which may become the watcher: entries may take long. One
//!    that is about to park because there is a watcher looks again once it has announced its sleep.
//! 5. Rules 2 to 4 are store-load handshakes: each side stores (watcher, spinning, how it sleeps), passes its barrier (heavy: of who
//!    is about to sleep; see [`mod@crate::base::fence`]), and loads what the other stores; at least one of them sees the other.
//!    `tests/model` checks it.

use crate::base::sync::{AtomicBool, AtomicUsize, Ordering, heavy, light};

/// See the file's head.
#[derive(Debug)]
pub(crate) struct Watch {
    has_watcher: AtomicBool,
    spinning: AtomicUsize,
}

/// What a PE finds that would watch the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entrance {
    /// It is the watcher now.
    Entered,
    /// There is one.
    Watched,
    /// PEs spin.
    Spun,
}

impl Watch {
    pub(crate) fn new() -> Self {
        Self { has_watcher: AtomicBool::new(false), spinning: AtomicUsize::new(0) }
    }

    /// Whether somebody sleeps on the network; then leave it alone.
    #[inline]
    pub(crate) fn has_watcher(&self) -> bool {
        light();
        self.has_watcher.load(Ordering::Relaxed)
    }

    /// Becomes the watcher, unless there is one or PEs spin. Then sleep, then [`Watch::leave`].
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
        // No store: loom lets one be overwritten by a swap that took place before it.
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
