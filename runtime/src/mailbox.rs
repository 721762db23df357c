//! What other threads leave for a PE, and how they wake it: a queue with [`crate::sleep`] beside it.
//!
//! 1. A PE leaves its messages for another PE of its node in a chain that these two alone use (see [`crate::chain`]). It makes the
//!    chain when it has something to leave there for the first time; the receiving end goes through the queue, like a message.
//! 2. What any other thread leaves goes through the queue.

use crate::call::{Call, FoundCall, ShortCall};
use crate::chain::{self, Received};
use crate::credit::Toll;
use crate::envelope::{Body, Envelope};
use crate::ids::TaskKey;
use crate::location::Places;
use crate::object::AnyChare;
use crate::queue::{CallOptions, RunQueue};
use crate::sleep::{Sleep, Sleeper};
use crate::zerocopy::Nocopy;
use crossbeam::queue::SegQueue;
use std::rc::Rc;
use std::sync::OnceLock;
use std::thread::Thread;
use std::time::Duration;

/// The end of a chain at which messages come.
pub(crate) type Receiver = chain::Receiver<ShortCall, Envelope>;

/// The end of a chain at which they leave.
pub(crate) type Sender = chain::Sender<ShortCall, Envelope>;

/// One thing for a PE to do, as others leave it.
pub(crate) enum Work {
    /// With what it cost another node.
    Message(Envelope, Toll),
    /// An async entry can go on.
    Task(TaskKey),
    /// Another PE of the node leaves its messages here from now on.
    Way(Receiver),
}

/// One thing for a PE to do, in its queue.
#[derive(Default)]
pub(crate) enum Queued {
    /// Nothing: it is done.
    #[default]
    Done,
    /// A call of a chare that is here.
    Call(FoundCall),
    /// The same with nocopy arguments, which are here, too.
    NocopyCall(FoundCall, Box<Nocopy>),
    Work(Work),
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
            Self::Task(_) | Self::Way(_) => CallOptions::new(),
        }
    }
}

impl Queued {
    /// What it cost another node.
    #[inline]
    pub(crate) fn toll(&self) -> Toll {
        match self {
            Self::Call(call) | Self::NocopyCall(call, _) => call.toll,
            Self::Work(Work::Message(_, toll)) => *toll,
            Self::Work(Work::Task(_) | Work::Way(_)) | Self::Done => Toll::NONE,
        }
    }

    /// Drops what it holds. Of a call that has run nothing is left to drop, which is seen sooner than done.
    #[inline]
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Call(call) if call.is_over() => std::mem::forget(std::mem::take(self)),
            queued => *queued = Self::Done,
        }
    }
}

impl Sender {
    /// Sends a call; `options` says how it is queued.
    #[inline]
    pub(crate) fn send_call(&mut self, options: &CallOptions, call: Call) {
        let call = if options.is_default() { call.shorten() } else { Err(call) };
        match call {
            Ok(call) => self.send_short(call),
            Err(call) => self.send_long(Envelope { options: options.clone(), body: Body::Call(call) }),
        }
    }
}

impl RunQueue<Queued> {
    /// Queues work as its sender wants it.
    pub(crate) fn push_work(&mut self, work: Work) {
        let options = work.options();
        self.push_made(&options, || Queued::Work(work));
    }

    /// Queues the call that `make` makes with its chare, which is here. It is queued by default and [is plain](Call::is_plain).
    #[inline]
    pub(crate) fn push_found(&mut self, chare: Rc<dyn AnyChare>, toll: Toll, make: impl FnOnce() -> Call) {
        self.push_default(|| {
            let (call, nocopy) = FoundCall::new(chare, make(), toll);
            match nocopy {
                None => Queued::Call(call),
                Some(nocopy) => Queued::NocopyCall(call, nocopy),
            }
        });
    }

    /// The same for a call whose chare is perhaps not here.
    #[inline]
    pub(crate) fn push_plain_call(&mut self, places: &mut Places, call: Call, toll: Toll) {
        match places.find(call.target) {
            Some(chare) => self.push_found(chare, toll, || call),
            None => {
                let envelope = Envelope { options: CallOptions::new(), body: Body::Call(call) };
                self.push_default(|| Queued::Work(Work::Message(envelope, toll)));
            }
        }
    }

    /// Queues what came by a chain; a long message is moved once.
    #[inline]
    pub(crate) fn push_received(&mut self, places: &mut Places, received: Received<'_, ShortCall, Envelope>) {
        match received {
            Received::Short(call) => self.push_plain_call(places, call.into(), Toll::NONE),
            Received::Long(message) => {
                if message.peek(Envelope::is_plain_call) {
                    let Body::Call(call) = message.take().body else { unreachable!("looked at above") };
                    self.push_plain_call(places, call, Toll::NONE);
                } else {
                    let options = message.peek(|envelope| envelope.options.clone());
                    self.push_made(&options, || Queued::Work(Work::Message(message.take(), Toll::NONE)));
                }
            }
        }
    }
}

// What a slot of a chain has room for beside its turns.
const _: () = assert!(size_of::<Envelope>() <= 112);

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
        if !stay_awake() {
            sleep();
        }
        self.sleep.end();
    }
}
