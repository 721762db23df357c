//! Work left for PEs of a node, and PEs woken for it: messages, callbacks that are fired outside any entry, and what is put off because it
//! takes too long for the thread that takes arrivals, or comes from threads that are no PE's.

use super::mailbox::{Begin, Wake, Work, wake_one, wake_sleepers};
use super::{Node, PutOff};
use crate::base::counters::Counter;
use crate::model::arguments::Arguments;
use crate::model::call_options::CallOptions;
use crate::model::callback::{ErasedCallback, Goal};
use crate::model::envelope::{Body, Envelope, Fired};
use crate::model::ids::PeId;
use crate::node::credit::Cost;
use std::sync::Arc;

impl Node {
    /// Leaves work for a PE of this node, from any thread; a PE uses its outbox instead, which is quicker.
    pub(crate) fn deliver(&self, pe: PeId, work: Work) {
        if self.mailbox(pe).push(work) == Wake::Network {
            self.network.wake();
        }
    }

    /// As [`deliver`](Self::deliver), of work that the PE is to sort, and that is counted in `taken` then.
    pub(crate) fn deliver_sorted(&self, pe: PeId, work: Work, taken: Option<Arc<Counter>>) {
        if self.mailbox(pe).push_sorted(work, taken) == Wake::Network {
            self.network.wake();
        }
    }

    /// Wakes the PE of this rank if it sleeps: work was left for the PE elsewhere than in its mailbox.
    #[inline]
    pub(crate) fn wake(&self, rank: usize) {
        if self.mailboxes[rank].wake() == Wake::Network {
            self.network.wake();
        }
    }

    /// Sends a message from outside any PE's entry, and counts it in `outside`.
    pub(crate) fn deliver_counted(&self, pe: PeId, envelope: Envelope) {
        self.outside.sent.add_shared(1);
        self.deliver(pe, Work::Message(envelope, Cost::NONE));
    }

    /// Gives a PE a task from outside the job, and counts it in `outside`.
    pub(crate) fn begin(&self, pe: PeId, begin: Begin) {
        self.outside.sent.add_shared(1);
        self.deliver(pe, Work::Begin(begin));
    }

    /// Wakes all PEs that sleep.
    pub(super) fn wake_all(&self) {
        wake_sleepers(&self.mailboxes, || self.network.wake());
    }

    /// Wakes one parked PE, to watch the network while the caller is busy, unless a PE watches it already.
    pub(crate) fn hand_over_network(&self) {
        if self.topology.nodes() > 1 && !self.watch.has_watcher() {
            self.mailboxes.iter().any(|mailbox| mailbox.wake_parked());
        }
    }

    /// Puts work off until the thread that takes arrivals lets others do so: it takes too long for them to wait.
    pub(crate) fn put_off(&self, work: PutOff) {
        self.put_off.push(work);
    }

    /// Leaves work to whichever PE looks at the network next, from any thread that may drop it and the node; wakes a PE if all sleep. Work
    /// that comes when the job has ended is dropped.
    pub(crate) fn later(&self, work: PutOff) {
        if self.has_ended() {
            return;
        }
        self.put_off.push(work);
        wake_one(&self.mailboxes, || self.network.wake());
    }

    /// Whether work was put off.
    #[inline]
    pub(crate) fn has_put_off(&self) -> bool {
        !(self.put_off.is_empty() && self.reports.is_empty())
    }

    /// Does the work that was put off; returns whether there was any.
    #[inline]
    pub(crate) fn catch_up(self: &Arc<Self>) -> bool {
        if !self.has_put_off() {
            return false;
        }
        let put_off = std::iter::from_fn(|| self.put_off.pop()).map(|work| work(self)).count();
        // None, if the job has ended meanwhile.
        let awaited = std::iter::from_fn(|| self.reports.take());
        let gone_on = awaited.filter_map(|token| self.devices.awaited.take_back(token));
        put_off + gone_on.map(|go_on| go_on(self, Ok(()))).count() > 0
    }

    /// Sends a value to a callback's goal: to a future of this node directly, to any other goal through a PE, whose outbox knows every
    /// way out.
    pub(crate) fn fire(&self, callback: ErasedCallback, value: Arguments) {
        if self.has_ended() {
            return;
        }
        let (to, body) = match callback.goal {
            Goal::Ignore => return,
            Goal::Resolve(future) if self.is_here(future.pe) => (future.pe, Body::Resolve { future, value }),
            _ => (self.topology.pe(self.id, 0), Body::Callback(Box::new(Fired { callback, value }))),
        };
        self.deliver_counted(to, Envelope { options: CallOptions::new(), body });
    }
}
