//! Progress of the network: hands its arrivals on, and posts as messages the transfers that it refused.

use super::Reach;
use super::choose::count;
use super::fabric::Fabric;
use super::transfer::Tried;
use crate::error::{LrtsError, TransferError};
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Posted, Sink};
use crate::operation::Operation;
use std::sync::atomic::Ordering;

impl Reach {
    /// Lets the network go on. Returns whether anything happened.
    pub(super) fn progress_on(&self, fabric: &dyn Fabric, sink: &mut dyn Sink) -> bool {
        let happened = fabric.carrier().progress(&mut Watcher { reach: self, fabric, sink });
        let postponed = std::mem::take(&mut *self.under_way.postponed.lock());
        for operation in postponed {
            self.carry_after_all(fabric, operation, sink);
        }
        happened
    }

    /// Posts as messages what was refused otherwise.
    fn carry_after_all(&self, fabric: &dyn Fabric, operation: Operation, sink: &mut dyn Sink) {
        let (node, len) = (operation.key.node, operation.len);
        let posted = self.under_way.carry(fabric.carrier(), operation);
        match count(&self.peers[node].traffic.emulated, len, posted) {
            Ok(Posted::Done(completion)) => sink.completion(completion),
            Ok(Posted::Pending) => {}
            Err(operation) if self.closing.load(Ordering::Acquire) => {
                sink.completion(operation.end(Err(TransferError::PeerLost(node))));
            }
            Err(operation) => self.under_way.postponed.lock().push(operation),
        }
    }
}

/// The network's sink.
struct Watcher<'a> {
    reach: &'a Reach,
    fabric: &'a dyn Fabric,
    sink: &'a mut dyn Sink,
}

impl Sink for Watcher<'_> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        self.sink.frame(source, channel, bytes);
    }

    fn begin(&mut self, source: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
        self.sink.begin(source, channel, begun, len)
    }

    fn rest(&mut self, source: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
        self.sink.rest(source, read);
    }

    fn completion(&mut self, completion: Completion) {
        match self.reach.under_way.end(completion) {
            Tried::Works(completion) => self.sink.completion(completion),
            Tried::Fails(operation, cause) => {
                let peer = &self.reach.peers[operation.key.node];
                peer.traffic.one_sided.take_back(operation.len);
                self.reach.give_up(peer, &peer.direct, &cause);
                self.reach.carry_after_all(self.fabric, operation, self.sink);
            }
        }
    }

    fn peer_closed(&mut self, peer: NodeId) {
        self.sink.peer_closed(peer);
    }

    fn peer_lost(&mut self, error: LrtsError) {
        self.sink.peer_lost(error);
    }
}
