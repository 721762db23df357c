//! Transfers and long copies of a node, begun: each over its network, and with a sleeping PE woken to help where a copy is long.

use super::Node;
use super::lending::transfers::{Status, Then};
use chare_lrts::reach::PiecewiseCopy;
use chare_lrts::{Memory, MemoryMut, RegionKey, Runs};
use std::sync::Arc;

impl Node {
    /// [`Transfers::get`] over this node's network.
    pub(crate) fn get(&self, place: (RegionKey, u64), into: (MemoryMut, usize), then: Then) -> Status {
        let status = self.transfers.get(&self.network, place, into, then);
        self.call_helper();
        status
    }

    /// [`Transfers::put`] over this node's network.
    pub(crate) fn put(&self, place: (RegionKey, u64), from: Memory, then: Then) -> Status {
        let status = self.transfers.put(&self.network, place, from, then);
        self.call_helper();
        status
    }

    /// [`Transfers::get_runs`] over this node's network.
    pub(crate) fn get_runs(&self, place: (RegionKey, u64), into: (MemoryMut, Runs), then: Then) -> Status {
        self.transfers.get_runs(&self.network, place, into, then)
    }

    /// [`Transfers::put_runs`] over this node's network.
    pub(crate) fn put_runs(&self, place: (RegionKey, u64), from: (Memory, Runs), then: Then) -> Status {
        self.transfers.put_runs(&self.network, place, from, then)
    }

    /// [`Transfers::copy_pieces`], of which there is at least one, over this node's network.
    pub(crate) fn copy_pieces(&self, pieces: Arc<dyn PiecewiseCopy>, then: Then) {
        self.transfers.copy_pieces(&self.network, pieces, then);
        self.call_helper();
    }

    /// Wakes a sleeping PE, if there is one, when a long copy is to be made: the PE that began the copy may be in its entry for long.
    fn call_helper(&self) {
        if !self.network.has_copies() {
            return;
        }
        if self.watch.has_watcher() {
            self.network.wake();
        } else {
            self.mailboxes.iter().any(|mailbox| mailbox.wake_parked());
        }
    }
}
