//! Ways from one PE to another of its node: a queue, and, where mailboxes have a bound, a count of the messages that wait in it.
//! `lrts -> delivery/polling -> delivery/inbox -> **node/way**, node/mailbox, pe/run_queue -> delivery/scheduler -> delivery/dispatch -> delivery/invocation -> the entry method`
//!
//! 1. The sender counts what it sends, the receiver tells how much it has taken; the difference waits. A sender looks at what was taken
//!    only when the bound would be reached without it.
//! 2. What the receiver has taken is in its run queue, which it fills by a batch at a time: it does not wait in this sense.
//! 3. Messages that the receiver is to sort go beside the way, through the mailbox, and count like the others.
//! 4. A sender that has reached the bound is to wait for the receiver. Who cannot wait, because both wait for each other, [goes
//!    on](Sender::enlarge): then more may wait, until fewer than the bound do.

use crate::base::counters::Counter;
use crate::base::spsc::{self, Received};
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope, ShortCall};
use std::num::NonZeroU32;
use std::sync::Arc;

// The room of an spsc queue's slot beside its turns.
const _: () = assert!(size_of::<Envelope>() <= 112);

/// The sending end of a way.
pub(crate) struct Sender {
    queue: spsc::Sender<ShortCall, Envelope>,
    bound: Option<Box<Bound>>,
}

/// The receiving end of a way.
pub(crate) struct Receiver {
    queue: spsc::Receiver<ShortCall, Envelope>,
    /// Messages taken, if the way has a bound: written here, read by the sender.
    taken: Option<Arc<Counter>>,
}

/// A new way, on which so many messages may wait, or any number.
pub(crate) fn open(most: Option<NonZeroU32>) -> (Sender, Receiver) {
    let (sender, receiver) = spsc::chain();
    let taken = most.map(|_| Arc::<Counter>::default());
    let bound = most.zip(taken.clone()).map(|(most, taken)| Box::new(Bound::new(most, taken)));
    (Sender { queue: sender, bound }, Receiver { queue: receiver, taken })
}

impl Sender {
    /// Sends a message of any kind. Returns whether the sender is to wait.
    #[inline]
    pub(crate) fn send(&mut self, envelope: Envelope) -> bool {
        self.queue.send_long(envelope);
        self.count()
    }

    /// Sends a call; `options` says how the call is queued by the receiver. Returns whether the sender is to wait. Inlined, so that a short
    /// call is written once, where it travels.
    #[inline(always)]
    pub(crate) fn send_call(&mut self, options: &CallOptions, call: Call) -> bool {
        let call = if options.is_default() { call.shorten() } else { Err(call) };
        match call {
            Ok(call) => self.queue.send_short(call),
            Err(call) => {
                self.queue.send_long(Envelope { options: options.clone(), body: Body::Call(call) });
            }
        }
        self.count()
    }

    /// Counts a message that goes beside the way, through the mailbox. Returns whether the sender is to wait, and where the receiver says
    /// that it has taken the message, if there is a bound.
    pub(crate) fn count_beside(&mut self) -> (bool, Option<Arc<Counter>>) {
        let taken = self.bound.as_ref().map(|bound| Arc::clone(&bound.taken));
        (self.count(), taken)
    }

    #[inline]
    fn count(&mut self) -> bool {
        self.bound.as_mut().is_some_and(|bound| {
            bound.sent += 1;
            bound.is_reached()
        })
    }

    /// Whether so many messages wait still that a sender goes on waiting: to half of the bound, so that not every message from now on has
    /// to wait.
    pub(crate) fn is_crowded(&self) -> bool {
        self.bound.as_ref().is_some_and(|bound| bound.sent - bound.taken.read() > bound.room / 2)
    }

    /// Lets twice as many messages wait, until fewer than the bound do.
    pub(crate) fn enlarge(&mut self) {
        if let Some(bound) = &mut self.bound {
            bound.room = bound.room.saturating_mul(2);
        }
    }
}

impl Receiver {
    /// Whether there is nothing to receive now.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Takes messages, at most so many.
    #[inline]
    pub(crate) fn take(&mut self, most: usize, mut take: impl FnMut(Received<'_, ShortCall, Envelope>)) {
        let mut taken = 0;
        while taken < most
            && let Some(received) = self.queue.receive()
        {
            take(received);
            taken += 1;
        }
        if let Some(told) = &self.taken {
            told.add(taken as u64);
        }
    }
}

/// The bound of a way, at its sender.
struct Bound {
    /// Messages that may wait.
    most: u64,
    /// Messages that may wait for now.
    room: u64,
    sent: u64,
    /// Messages that were taken when the sender looked last.
    seen: u64,
    taken: Arc<Counter>,
}

impl Bound {
    fn new(most: NonZeroU32, taken: Arc<Counter>) -> Self {
        let most = u64::from(most.get());
        Self { most, room: most, sent: 0, seen: 0, taken }
    }

    /// Whether as many messages wait as may.
    fn is_reached(&mut self) -> bool {
        if self.sent - self.seen < self.most {
            return false;
        }
        self.seen = self.taken.read();
        let waiting = self.sent - self.seen;
        if waiting < self.most {
            self.room = self.most;
        }
        waiting >= self.room
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::arguments::Arguments;
    use crate::model::callback::FutureId;
    use crate::model::ids::PeId;

    fn envelope() -> Envelope {
        let future = FutureId { pe: PeId(0), slot: 0, generation: 0 };
        Envelope { options: CallOptions::new(), body: Body::Resolve { future, value: Arguments::new(1u64) } }
    }

    /// Sends until the sender is to wait; returns the number of messages.
    fn fill(sender: &mut Sender) -> u64 {
        (1..1000).find(|_| sender.send(envelope())).expect("there is a bound")
    }

    fn take(receiver: &mut Receiver, most: usize) -> usize {
        let mut taken = 0;
        receiver.take(most, |received| {
            taken += 1;
            drop(received_long(received));
        });
        taken
    }

    fn received_long(received: Received<'_, ShortCall, Envelope>) -> Envelope {
        match received {
            Received::Long(message) => message.take(),
            Received::Short(_) => unreachable!("no call was sent"),
        }
    }

    #[test]
    fn the_message_that_reaches_the_bound_is_the_last_until_half_are_taken() {
        for most in [1, 2, 7, 64] {
            let (mut sender, mut receiver) = open(NonZeroU32::new(most));
            assert_eq!(fill(&mut sender), u64::from(most));
            while sender.is_crowded() {
                assert_eq!(take(&mut receiver, 1), 1);
            }
            assert_eq!(fill(&mut sender), u64::from(most.div_ceil(2)), "{most}");
        }
    }

    #[test]
    fn a_sender_that_goes_on_is_bound_again_when_the_way_is_clear() {
        let (mut sender, mut receiver) = open(NonZeroU32::new(8));
        assert_eq!(fill(&mut sender), 8);
        sender.enlarge();
        assert_eq!(fill(&mut sender), 8);
        sender.enlarge();
        assert_eq!(fill(&mut sender), 16);
        assert_eq!(take(&mut receiver, usize::MAX), 32);
        assert_eq!(fill(&mut sender), 8);
    }

    #[test]
    fn what_goes_beside_a_way_counts_to_its_bound() {
        let (mut sender, mut receiver) = open(NonZeroU32::new(4));
        let beside = [(); 3].map(|()| {
            let (is_full, taken) = sender.count_beside();
            assert!(!is_full);
            taken.expect("there is a bound")
        });
        assert_eq!(fill(&mut sender), 1);
        beside.iter().for_each(|taken| taken.add(1));
        assert!(!sender.is_crowded());
        assert_eq!((fill(&mut sender), take(&mut receiver, usize::MAX)), (3, 4));
        assert!(open(None).0.count_beside().1.is_none());
    }

    #[test]
    fn a_way_without_a_bound_takes_everything() {
        let (mut sender, mut receiver) = open(None);
        assert!((0..1000).all(|_| !sender.send(envelope()) && !sender.is_crowded()));
        assert_eq!((take(&mut receiver, 64), take(&mut receiver, usize::MAX)), (64, 936));
    }
}
