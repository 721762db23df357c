//! A PE's mailbox: what other threads leave for a PE, and how they wake it; a queue with [`crate::base::sleep`] beside it.
//!
//! 1. A PE leaves its messages for another PE of its node in a queue that these two alone use (see [`crate::base::spsc`]). It makes the
//!    queue when it has something to leave there for the first time; the receiving end goes through the mailbox, like a message.
//! 2. What any other thread leaves goes through the mailbox.

use super::credit::Cost;
use crate::base::sleep::{Sleep, Sleeper};
use crate::base::spsc;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope, ShortCall};
use crate::model::ids::TaskKey;
use crossbeam::queue::SegQueue;
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Duration;

/// The end of a queue between two PEs at which messages come.
pub(crate) type Receiver = spsc::Receiver<ShortCall, Envelope>;

/// The end at which they leave.
pub(crate) type Sender = spsc::Sender<ShortCall, Envelope>;

/// One thing for a PE to do, as others leave it.
pub(crate) enum Work {
    /// With what it cost another node.
    Message(Envelope, Cost),
    /// An async entry can go on.
    Task(TaskKey),
    /// Another PE of the node leaves its messages here from now on.
    Way(Receiver),
}

impl Work {
    /// A message of this node.
    #[inline]
    pub(crate) fn message(options: CallOptions, body: Body) -> Self {
        Self::Message(Envelope { options, body }, Cost::NONE)
    }

    /// How its sender wants it queued.
    #[inline]
    pub(crate) fn options(&self) -> CallOptions {
        match self {
            Self::Message(envelope, _) => envelope.options.clone(),
            Self::Task(_) | Self::Way(_) => CallOptions::new(),
        }
    }
}

/// Sends a call; `options` says how it is queued.
#[inline]
pub(crate) fn send_call(way: &mut Sender, options: &CallOptions, call: Call) {
    let call = if options.is_default() { call.shorten() } else { Err(call) };
    match call {
        Ok(call) => way.send_short(call),
        Err(call) => way.send_long(Envelope { options: options.clone(), body: Body::Call(call) }),
    }
}

// What a slot of such a queue has room for beside its turns.
const _: () = assert!(size_of::<Envelope>() <= 112);

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
        if !stay_awake() {
            sleep();
        }
        self.sleep.end();
    }
}
