//! What other threads leave for a PE, and how they wake it.
//!
//! 1. Anyone pushes; the PE alone pops.
//! 2. A PE that goes to sleep stores how it sleeps, then looks at its queue once more; a pusher pushes, then looks how
//!    the PE sleeps. Both with sequential consistency: one of them sees the other (Dekker).
//! 3. Whoever resets the state from asleep to awake does the waking.

use crate::envelope::Envelope;
use crate::executor::TaskKey;
use crossbeam::queue::SegQueue;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering, fence};
use std::thread::Thread;
use std::time::Duration;

/// One thing for a PE to do.
pub(crate) enum Work {
    Message(Envelope),
    /// An async entry can go on.
    Task(TaskKey),
}

const AWAKE: u8 = 0;
const PARKED: u8 = 1;
const IN_NETWORK: u8 = 2;

/// Who has to be woken after a push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// Nobody, or it is done.
    Nothing,
    /// The PE sleeps in the network's wait: wake the network.
    Network,
}

/// A PE's mailbox.
pub(crate) struct Mailbox {
    queue: SegQueue<Work>,
    /// Written by the PE when it falls asleep and by whoever wakes it.
    sleep: AtomicU8,
    thread: OnceLock<Thread>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        Self { queue: SegQueue::new(), sleep: AtomicU8::new(AWAKE), thread: OnceLock::new() }
    }

    /// Says which thread runs the PE: the caller's.
    pub(crate) fn attach(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    pub(crate) fn push(&self, work: Work) -> Wake {
        self.queue.push(work);
        self.wake()
    }

    /// Wakes the PE if it sleeps.
    pub(crate) fn wake(&self) -> Wake {
        fence(Ordering::SeqCst);
        if self.sleep.load(Ordering::Relaxed) == AWAKE {
            return Wake::Nothing;
        }
        match self.sleep.swap(AWAKE, Ordering::SeqCst) {
            PARKED => {
                if let Some(thread) = self.thread.get() {
                    thread.unpark();
                }
                Wake::Nothing
            }
            IN_NETWORK => Wake::Network,
            _ => Wake::Nothing,
        }
    }

    /// Wakes the PE if it is parked; returns whether it was.
    pub(crate) fn wake_parked(&self) -> bool {
        let was_parked = self.sleep.compare_exchange(PARKED, AWAKE, Ordering::SeqCst, Ordering::Relaxed).is_ok();
        if was_parked && let Some(thread) = self.thread.get() {
            thread.unpark();
        }
        was_parked
    }

    pub(crate) fn pop(&self) -> Option<Work> {
        self.queue.pop()
    }

    /// Parks the PE's thread until a push, unless `stay_awake` says no after the announcement.
    pub(crate) fn park(&self, timeout: Option<Duration>, stay_awake: impl FnOnce() -> bool) {
        self.sleep.store(PARKED, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.queue.is_empty() && !stay_awake() {
            match timeout {
                Some(timeout) => std::thread::park_timeout(timeout),
                None => std::thread::park(),
            }
        }
        self.sleep.store(AWAKE, Ordering::SeqCst);
    }

    /// Runs `wait` with pushes waking the network instead of the thread.
    pub(crate) fn wait_in_network(&self, stay_awake: impl FnOnce() -> bool, wait: impl FnOnce()) {
        self.sleep.store(IN_NETWORK, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.queue.is_empty() && !stay_awake() {
            wait();
        }
        self.sleep.store(AWAKE, Ordering::SeqCst);
    }
}
