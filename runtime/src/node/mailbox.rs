//! Mailbox of a PE: work that other threads leave for the PE, and the way to wake it; a queue with [`crate::base::sleep`] beside it.
//! `lrts -> delivery/polling -> delivery/inbox -> **node/mailbox**, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! 1. A PE leaves its messages for another PE of its node on a way that these two PEs alone use (see [`super::way`]). The sending PE
//!    opens the way for its first message to the other; the receiving end goes through the mailbox, like a message.
//! 2. Work from any other thread goes through the mailbox, and so does a message of which the sender says when it is to run: it has a lane
//!    of its own, which the PE empties whenever it looks, so that the run queue sorts what is in it. No flood of others is before it.
//! 3. A thread of a device's driver must not be the one that drops the node, nor anything that has a share in a device: it holds [`Reports`]
//!    alone, and leaves the number of work that the node keeps.
//! 4. Whoever runs the PE says once how the PE is woken: a thread unparks, a driver of many PEs notes whom to run.

use super::credit::Cost;
use super::way::Receiver;
use crate::base::counters::Counter;
use crate::base::sleep::{Sleep, Sleeper};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope};
use crate::model::ids::{BegunCall, TaskKey};
use chare_lrts::Token;
use chare_lrts::reach::Reach;
use crossbeam_queue::SegQueue;
use crossbeam_utils::CachePadded;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::Waker;
#[cfg(feature = "sim")]
use {parking_lot::Mutex, std::collections::VecDeque};

/// A piece of work for a PE, as other threads leave it.
pub(crate) enum Work {
    /// A message, and its cost to another node.
    Message(Envelope, Cost),
    /// A call that has waited for its buffers at a chare of the PE.
    Waited(Box<Waited>),
    /// A task of the PE (an async entry) that can go on.
    Task(TaskKey),
    /// The way on which another PE of the node leaves its messages from now on.
    Way(Receiver),
    /// A task that a thread outside the job gives to the PE.
    Begin(Begin),
}

/// A call that waits no more for its buffers.
pub(crate) struct Waited {
    pub(crate) begun: BegunCall,
    pub(crate) options: CallOptions,
    pub(crate) call: Call,
    /// Why it cannot run, if its chare is still there: a post was dropped.
    pub(crate) flaw: Option<String>,
}

/// A task that its PE is to make and run.
pub(crate) type Begin = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

impl Work {
    /// A message from this node.
    #[inline]
    pub(crate) fn message(options: CallOptions, body: Body) -> Self {
        Self::Message(Envelope { options, body }, Cost::NONE)
    }

    /// Whether the PE is to sort it among what waits.
    fn is_sorted(&self) -> bool {
        match self {
            Self::Message(envelope, _) => envelope.options.is_sorted(),
            Self::Waited(waited) => waited.options.is_sorted(),
            Self::Task(_) | Self::Way(_) | Self::Begin(_) => false,
        }
    }

    /// The options by which the sender wants the work queued, if they are not the default.
    #[inline]
    pub(crate) fn options(&self) -> Option<&CallOptions> {
        let options = match self {
            Self::Message(envelope, _) => &envelope.options,
            Self::Waited(waited) => &waited.options,
            Self::Task(_) | Self::Way(_) | Self::Begin(_) => return None,
        };
        (!options.is_default()).then_some(options)
    }
}

/// Work that a PE sorts.
struct Sorted {
    work: Work,
    /// Where it is counted when it is taken, if the way that it belongs to has a bound.
    taken: Option<Arc<Counter>>,
}

/// A queue without a lock: where small lanes are, apart, so that these have not its size.
#[cfg(not(feature = "sim"))]
type Queue<T> = SegQueue<T>;
#[cfg(feature = "sim")]
type Queue<T> = Box<SegQueue<T>>;

/// A queue to which any thread pushes, and of which one thread pops; a small one where very many PEs share a process.
enum Lane<T> {
    /// Without a lock; room for 31 elements from the first one on, and as much beside it whenever that is used up.
    Roomy(Queue<T>),
    /// Room for what is in it, behind a lock, and none once it is empty: for PEs that a few threads drive, each its own.
    #[cfg(feature = "sim")]
    Small(Mutex<VecDeque<T>>),
}

impl<T> Lane<T> {
    fn roomy() -> Self {
        Self::Roomy(Queue::default())
    }

    #[cfg(feature = "sim")]
    const fn small() -> Self {
        Self::Small(Mutex::new(VecDeque::new()))
    }

    #[inline]
    fn push(&self, element: T) {
        match self {
            Self::Roomy(queue) => queue.push(element),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().push_back(element),
        }
    }

    #[inline]
    fn pop(&self) -> Option<T> {
        match self {
            Self::Roomy(queue) => queue.pop(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => {
                let mut queue = queue.lock();
                let element = queue.pop_front();
                if queue.is_empty() {
                    *queue = VecDeque::new();
                }
                element
            }
        }
    }

    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::Roomy(queue) => queue.len(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().len(),
        }
    }

    #[inline]
    fn is_empty(&self) -> bool {
        match self {
            Self::Roomy(queue) => queue.is_empty(),
            #[cfg(feature = "sim")]
            Self::Small(queue) => queue.lock().is_empty(),
        }
    }
}

/// The wake-up that is left to do after a push.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wake {
    /// None: the PE is awake, or the push has woken it.
    Nothing,
    /// The PE sleeps in the network's wait: wake the network.
    Network,
}

/// A PE's mailbox: any thread pushes, the PE alone pops.
pub(crate) struct Mailbox {
    queue: Lane<Work>,
    /// Work that the PE sorts.
    sorted: Lane<Sorted>,
    sleep: Sleep,
    /// Wakes a PE that is announced as [`Sleeper::Thread`].
    waker: OnceLock<Waker>,
}

impl Mailbox {
    pub(crate) fn new() -> Self {
        Self { queue: Lane::roomy(), sorted: Lane::roomy(), sleep: Sleep::new(), waker: OnceLock::new() }
    }

    /// One of very many in a process.
    #[cfg(feature = "sim")]
    pub(crate) fn small() -> Self {
        Self { queue: Lane::small(), sorted: Lane::small(), ..Self::new() }
    }

    /// Sets how the PE is woken from now on.
    pub(crate) fn attach(&self, waker: Waker) {
        let _ = self.waker.set(waker);
    }

    pub(crate) fn push(&self, work: Work) -> Wake {
        if work.is_sorted() {
            return self.push_sorted(work, None);
        }
        self.queue.push(work);
        self.wake()
    }

    /// Leaves work that the PE is to sort, and that is counted in `taken` when the PE has taken it.
    pub(crate) fn push_sorted(&self, work: Work, taken: Option<Arc<Counter>>) -> Wake {
        self.sorted.push(Sorted { work, taken });
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
        if let Some(waker) = self.waker.get() {
            waker.wake_by_ref();
        }
    }

    /// Whether there is no work to pop; cheaper than a pop.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.sorted.is_empty()
    }

    /// Hands over all that the PE is to sort, because what is to run first may have come last, and no more than `most` pieces of the rest.
    pub(crate) fn take(&self, most: usize, mut hand_over: impl FnMut(Work)) {
        // As much as there is now: more may come for ever.
        std::iter::from_fn(|| self.pop_sorted()).take(self.sorted.len()).for_each(&mut hand_over);
        std::iter::from_fn(|| self.queue.pop()).take(most).for_each(hand_over);
    }

    /// One piece of work; those that the PE is to sort come first.
    pub(crate) fn pop(&self) -> Option<Work> {
        self.pop_sorted().or_else(|| self.queue.pop())
    }

    fn pop_sorted(&self) -> Option<Work> {
        let Sorted { work, taken } = self.sorted.pop()?;
        if let Some(taken) = taken {
            taken.add(1);
        }
        Some(work)
    }

    /// Looks at each piece of work, on a thread that drives all PEs: nobody pushes or pops meanwhile.
    #[cfg(feature = "sim")]
    pub(crate) fn each(&self, mut look: impl FnMut(&Work)) {
        for _ in 0..self.queue.len() {
            let work = self.queue.pop().expect("nobody else pops");
            look(&work);
            self.queue.push(work);
        }
        for _ in 0..self.sorted.len() {
            let sorted = self.sorted.pop().expect("nobody else pops");
            look(&sorted.work);
            self.sorted.push(sorted);
        }
    }

    /// Runs `park`, which a push ends by the PE's waker, unless `stay_awake`, asked after the announcement, returns true.
    pub(crate) fn park(&self, stay_awake: impl FnOnce() -> bool, park: impl FnOnce()) {
        self.sleep_as(Sleeper::Thread, stay_awake, park);
    }

    /// Runs `wait`, during which pushes wake the network instead, unless `stay_awake` returns true.
    pub(crate) fn wait_in_network(&self, stay_awake: impl FnOnce() -> bool, wait: impl FnOnce()) {
        self.sleep_as(Sleeper::Network, stay_awake, wait);
    }

    /// Announces that the PE, which is driven, rests until its waker is called, unless `stay_awake`, asked after the announcement, returns
    /// true. Returns whether it rests.
    #[cfg(feature = "sim")]
    pub(crate) fn begin_rest(&self, stay_awake: impl FnOnce() -> bool) -> bool {
        self.sleep.announce_to_own_thread();
        let rests = !stay_awake();
        if !rests {
            self.sleep.end();
        }
        rests
    }

    /// Marks the PE as awake, whatever ended its rest.
    #[cfg(feature = "sim")]
    pub(crate) fn end_rest(&self) {
        self.sleep.end();
    }

    fn sleep_as(&self, sleeper: Sleeper, stay_awake: impl FnOnce() -> bool, sleep: impl FnOnce()) {
        self.sleep.announce(sleeper);
        if !stay_awake() {
            sleep();
        }
        self.sleep.end();
    }
}

/// Numbers of work that can go on, left by threads which are no PE's, and how PEs are woken for it. It may outlive the node: nothing in it
/// is of the program's or of a device.
pub(crate) struct Reports {
    over: SegQueue<Token>,
    mailboxes: Box<[Arc<CachePadded<Mailbox>>]>,
    wake_network: Box<dyn Fn() + Send + Sync>,
}

impl Reports {
    pub(super) fn new(mailboxes: &[Arc<CachePadded<Mailbox>>], network: &Reach) -> Self {
        let wake_network = Box::new(network.wake_from_elsewhere());
        Self { over: SegQueue::new(), mailboxes: mailboxes.into(), wake_network }
    }

    /// Leaves a number to whichever PE looks at the network next; wakes a PE if all sleep.
    pub(crate) fn leave(&self, token: Token) {
        self.over.push(token);
        wake_one(&self.mailboxes, &self.wake_network);
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.over.is_empty()
    }

    pub(super) fn take(&self) -> Option<Token> {
        self.over.pop()
    }
}

/// Wakes a PE that is parked, or all that sleep if none is.
pub(super) fn wake_one(mailboxes: &[Arc<CachePadded<Mailbox>>], wake_network: impl Fn()) {
    if !mailboxes.iter().any(|mailbox| mailbox.wake_parked()) {
        wake_sleepers(mailboxes, wake_network);
    }
}

/// Wakes all that sleep.
pub(super) fn wake_sleepers(mailboxes: &[Arc<CachePadded<Mailbox>>], wake_network: impl Fn()) {
    for mailbox in mailboxes {
        if mailbox.wake() == Wake::Network {
            wake_network();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[derive(Default)]
    struct Woken(AtomicU32);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn whoever_runs_a_pe_is_told_once_of_work_that_comes_while_it_rests() {
        let (mailbox, woken) = (Mailbox::new(), Arc::new(Woken::default()));
        let times = || woken.0.load(Ordering::Relaxed);
        let push = || mailbox.push(Work::Begin(Box::new(|| Box::pin(async {}))));
        mailbox.attach(Waker::from(Arc::clone(&woken)));
        assert_eq!((push(), times()), (Wake::Nothing, 0), "it is awake");
        mailbox.park(
            || false,
            || {
                assert_eq!((push(), times()), (Wake::Nothing, 1));
                assert_eq!((push(), times()), (Wake::Nothing, 1), "once");
            },
        );
        mailbox.wait_in_network(|| false, || assert_eq!((push(), times()), (Wake::Network, 1)));
        mailbox.park(|| true, || panic!("there is work"));
    }

    #[cfg(feature = "sim")]
    #[test]
    fn a_small_lane_keeps_the_order_and_no_memory_once_it_is_empty() {
        let lane = Lane::small();
        for flood in [3, 100] {
            (0..flood).for_each(|element| lane.push(element));
            assert_eq!((lane.len(), lane.is_empty()), (flood, false));
            assert!((0..flood).all(|element| lane.pop() == Some(element)));
            assert_eq!((lane.len(), lane.pop()), (0, None));
        }
        let Lane::Small(queue) = lane else { panic!("it was made small") };
        assert_eq!(queue.lock().capacity(), 0);
    }
}
