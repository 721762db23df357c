//! Work in a PE's queue: calls with the chares that they are for, and any other work that was left for the PE.

use super::places::Places;
use super::run_queue::RunQueue;
use crate::base::spsc::Received;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::envelope::{Body, Call, Envelope, ShortCall};
use crate::model::ids::{PeId, TaskKey};
use crate::model::nocopy::Nocopy;
use crate::model::registry::{AnyChare, EntryRegistration};
use crate::node::credit::Cost;
use crate::node::mailbox::Work;
use std::rc::Rc;

/// A piece of work in a PE's queue.
#[derive(Default)]
pub(crate) enum Queued {
    /// No work: it is done.
    #[default]
    Done,
    /// A call of a chare that is here.
    Call(FoundCall),
    /// A call of a chare that is here, with nocopy arguments.
    NocopyCall(FoundCall, Box<Nocopy>),
    Work(Work),
}

impl Queued {
    /// The cost of the work to another node.
    #[inline]
    pub(crate) fn cost(&self) -> Cost {
        match self {
            Self::Call(call) | Self::NocopyCall(call, _) => call.cost,
            Self::Work(Work::Message(_, cost)) => *cost,
            Self::Work(Work::Waited(_) | Work::Task(_) | Work::Way(_) | Work::Begin(_)) | Self::Done => {
                Cost::NONE
            }
        }
    }

    /// Drops the work. A call that has run has nothing left to drop, and to see that is quicker than to drop it.
    #[inline]
    pub(crate) fn clear(&mut self) {
        match self {
            Self::Call(call) if call.is_over() => std::mem::forget(std::mem::take(self)),
            queued => *queued = Self::Done,
        }
    }
}

impl RunQueue<Queued> {
    /// Queues a message of this PE by the options of its sender; it is moved once.
    pub(crate) fn push_message(&mut self, envelope: Envelope) {
        if envelope.options.is_default() {
            self.push_default(|| Queued::Work(Work::Message(envelope, Cost::NONE)));
        } else {
            let options = envelope.options.clone();
            self.push_made(&options, || Queued::Work(Work::Message(envelope, Cost::NONE)));
        }
    }

    /// Queues a task of this PE, which can go on.
    #[inline]
    pub(crate) fn push_task(&mut self, key: TaskKey) {
        self.push_default(|| Queued::Work(Work::Task(key)));
    }

    /// Queues work that another PE has left here.
    pub(crate) fn push_arrived_work(&mut self, work: Work) {
        match work.options().cloned() {
            None => self.push_default(|| Queued::Work(work)),
            Some(options) => self.push_arrived(&options, || Queued::Work(work)),
        }
    }

    /// Queues the call that `make` makes together with its chare, which is here. The call is queued by default and [is
    /// plain](Call::is_plain).
    #[inline]
    pub(crate) fn push_found(&mut self, chare: Rc<dyn AnyChare>, cost: Cost, make: impl FnOnce() -> Call) {
        self.push_default(|| {
            let (call, nocopy) = FoundCall::new(chare, make(), cost);
            match nocopy {
                None => Queued::Call(call),
                Some(nocopy) => Queued::NocopyCall(call, nocopy),
            }
        });
    }

    /// Queues a plain call whose chare may not be here. Inlined, so that a short call is written once, where it waits.
    #[inline(always)]
    pub(crate) fn push_plain_call(&mut self, places: &mut Places, call: Call, cost: Cost) {
        match places.find(call.target) {
            Some(chare) => self.push_found(chare, cost, || call),
            None => {
                let envelope = Envelope { options: CallOptions::new(), body: Body::Call(call) };
                self.push_default(|| Queued::Work(Work::Message(envelope, cost)));
            }
        }
    }

    /// Queues a message that came by an spsc queue; a long message is moved once.
    #[inline]
    pub(crate) fn push_received(&mut self, places: &mut Places, received: Received<'_, ShortCall, Envelope>) {
        match received {
            Received::Short(call) => self.push_plain_call(places, call.into(), Cost::NONE),
            Received::Long(message) => {
                if message.peek(Envelope::is_plain_call) {
                    let Body::Call(call) = message.take().body else { unreachable!("looked at above") };
                    self.push_plain_call(places, call, Cost::NONE);
                } else {
                    let options = message.peek(|envelope| envelope.options.clone());
                    self.push_arrived(&options, || Queued::Work(Work::Message(message.take(), Cost::NONE)));
                }
            }
        }
    }
}

/// A plain call that is queued by default, with the chare of this PE that it is for.
pub(crate) struct FoundCall {
    /// Taken when the call runs.
    chare: Option<Rc<dyn AnyChare>>,
    from: PeId,
    /// The cost of the call to another node.
    pub(crate) cost: Cost,
    pub(crate) entry: &'static EntryRegistration,
    pub(crate) arguments: Arguments,
}

impl FoundCall {
    /// Makes a found call of a [plain](Call::is_plain) call and its chare; returns the call's nocopy arguments beside it.
    #[inline]
    pub(crate) fn new(chare: Rc<dyn AnyChare>, call: Call, cost: Cost) -> (Self, Option<Box<Nocopy>>) {
        let Call { from, entry, arguments, nocopy, .. } = call;
        (Self { chare: Some(chare), from, cost, entry, arguments }, nocopy)
    }

    /// The chare, once. The chare may have been destroyed since the call found it.
    #[inline]
    pub(crate) fn take_chare(&mut self) -> Option<Rc<dyn AnyChare>> {
        self.chare.take()
    }

    /// The chare, as long as the call has not taken it.
    #[inline]
    pub(crate) fn chare(&self) -> Option<&Rc<dyn AnyChare>> {
        self.chare.as_ref()
    }

    /// Undoes [`FoundCall::take_chare`].
    pub(crate) fn give_back_chare(&mut self, chare: Rc<dyn AnyChare>) {
        self.chare = Some(chare);
    }

    /// Whether nothing is left to drop.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.chare.is_none() && !self.arguments.needs_drop()
    }

    /// The call without its chare, which is to be found anew; `None` if the call has run.
    pub(crate) fn lose(self, nocopy: Option<Box<Nocopy>>) -> Option<Call> {
        let Self { chare, from, entry, arguments, .. } = self;
        let target = chare?.identity().target;
        Some(Call { target, from, entry, arguments, nocopy, reference: 0 })
    }
}

/// Result of processing a piece of work.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The work is over.
    Processed,
    /// The work waits for something, went elsewhere, or is not counted.
    NotCounted,
}
