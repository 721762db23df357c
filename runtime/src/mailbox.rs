//! What other threads leave for a PE, and how they wake it: a queue with [`crate::sleep`] beside it.
//!
//! 1. A PE leaves its messages for another PE of its node in a chain that these two alone use (see [`crate::chain`]). It makes the
//!    chain when it has something to leave there for the first time; the receiving end goes through the queue, like a message.
//! 2. What any other thread leaves goes through the queue.

use crate::chain::{Front, Receiver};
use crate::credit::Toll;
use crate::envelope::{Body, Call, Envelope};
use crate::ids::TaskKey;
use crate::queue::{CallOptions, RunQueue};
use crate::sleep::{Sleep, Sleeper};
use crossbeam::queue::SegQueue;
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Duration;

/// One thing for a PE to do.
#[derive(Default)]
pub(crate) enum Work {
    /// Nothing: it is done.
    #[default]
    Done,
    /// With what it cost another node.
    Message(Envelope, Toll),
    /// An async entry can go on.
    Task(TaskKey),
    /// Another PE of the node leaves its messages here from now on.
    Way(Receiver<Work>),
}

impl Work {
    /// A message of this node.
    #[inline]
    pub(crate) fn message(options: CallOptions, body: Body) -> Self {
        Self::Message(Envelope { options, body }, Toll::NONE)
    }

    /// How its sender wants it queued.
    #[inline]
    fn options(&self) -> CallOptions {
        match self {
            Self::Message(envelope, _) => envelope.options.clone(),
            Self::Task(_) | Self::Way(_) | Self::Done => CallOptions::new(),
        }
    }

    /// Drops what it holds. Of a call that has run nothing is left to drop, which is seen sooner than done.
    #[inline]
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Message(
                Envelope { options, body: Body::Call(Call { arguments, nocopy: None, .. }) },
                _,
            ) if !options.needs_drop() && !arguments.needs_drop() => {
                std::mem::forget(std::mem::take(self));
            }
            work => *work = Self::Done,
        }
    }
}

impl RunQueue<Work> {
    /// Queues work as its sender wants it.
    pub(crate) fn push_work(&mut self, work: Work) {
        let options = work.options();
        self.push(&options, work);
    }

    /// The same for what stands in a chain, which is moved once.
    #[inline]
    pub(crate) fn push_from(&mut self, front: Front<'_, Work>) {
        let options = front.peek(Work::options);
        self.push_made(&options, || front.take());
    }
}

// Moved into a queue and out of it again for every message; a larger one shows in the cost of a call.
const _: () = assert!(size_of::<Work>() <= 120);

/// What became of a piece of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It is over.
    Processed,
    /// It waits for something, went elsewhere, or is not counted.
    NotCounted,
}

/// Who has to be woken after a push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// Nobody, or it is done.
    Nothing,
    /// The PE sleeps in the network's wait: wake the network.
    Network,
}

/// A PE's mailbox: anyone pushes, the PE alone pops.
pub(crate) struct Mailbox {
    queue: SegQueue<Work>,
    sleep: Sleep,
    thread: OnceLock<Thread>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        Self { queue: SegQueue::new(), sleep: Sleep::new(), thread: OnceLock::new() }
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
        match self.sleep.interrupt() {
            None => Wake::Nothing,
            Some(Sleeper::Network) => Wake::Network,
            Some(Sleeper::Thread) => {
                self.unpark();
                Wake::Nothing
            }
        }
    }

    /// Wakes the PE if it is parked; returns whether it was.
    pub(crate) fn wake_parked(&self) -> bool {
        let was_parked = self.sleep.interrupt_parked();
        if was_parked {
            self.unpark();
        }
        was_parked
    }

    fn unpark(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    /// Whether there is nothing to pop; cheaper than trying.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(crate) fn pop(&self) -> Option<Work> {
        self.queue.pop()
    }

    /// Parks the PE's thread until a push, unless `stay_awake` says no after the announcement.
    pub(crate) fn park(&self, timeout: Option<Duration>, stay_awake: impl FnOnce() -> bool) {
        self.sleep_as(Sleeper::Thread, stay_awake, || match timeout {
            Some(timeout) => std::thread::park_timeout(timeout),
            None => std::thread::park(),
        });
    }

    /// Runs `wait` with pushes waking the network instead of the thread, unless `stay_awake` says no.
    pub(crate) fn wait_in_network(&self, stay_awake: impl FnOnce() -> bool, wait: impl FnOnce()) {
        self.sleep_as(Sleeper::Network, stay_awake, wait);
    }

    fn sleep_as(&self, sleeper: Sleeper, stay_awake: impl FnOnce() -> bool, sleep: impl FnOnce()) {
        self.sleep.announce(sleeper);
        if self.is_empty() && !stay_awake() {
            sleep();
        }
        self.sleep.end();
    }
}
