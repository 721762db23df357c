//! Work left for PEs of a node, and PEs woken for it.

use super::Node;
use super::mailbox::{Begin, Wake, Work};
use crate::base::counters::Counter;
use crate::model::envelope::Envelope;
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
        for mailbox in &self.mailboxes {
            if mailbox.wake() == Wake::Network {
                self.network.wake();
            }
        }
    }

    /// Wakes one parked PE, to watch the network while the caller is busy, unless a PE watches it already.
    pub(crate) fn hand_over_network(&self) {
        if self.topology.nodes() > 1 && !self.watch.has_watcher() {
            self.mailboxes.iter().any(|mailbox| mailbox.wake_parked());
        }
    }
}
