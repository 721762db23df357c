//! Transfers under way on a network that also has one-sided access: one that it refuses after all goes on by messages.
//!
//! Whether a peer can make its memory reachable is known only when it has been asked: it may not be allowed to pin that much.
//!
//! 1. Every transfer on the network has a name here until its end, which is told under the name that its poster gave it.
//! 2. What is refused under way is posted again as messages, or postponed while there is no room for it.

use super::Reach;
use super::choose::count;
use super::fabric::Fabric;
use super::transfer::{Stub, Tried};
use crate::error::{LrtsError, TransferError};
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Posted, Sink, Token};
use crate::wish::Wish;
use parking_lot::Mutex;
use slab::Slab;
use std::sync::atomic::Ordering;

/// A transfer that the network has.
struct Open {
    /// Its poster's name for it.
    token: Token,
    /// Of one-sided access.
    stub: Option<Stub>,
}

/// See the file's head.
#[derive(Default)]
pub(super) struct UnderWay {
    open: Mutex<Slab<Open>>,
    postponed: Mutex<Vec<Wish>>,
}

impl UnderWay {
    /// Posts a transfer for which another path could be taken.
    ///
    /// # Errors
    /// The transfer, when there is no room for it now.
    pub(super) fn attempt(&self, direct: &dyn Lrts, wish: Wish) -> Result<Tried<Posted>, Wish> {
        let stub = wish.stub();
        self.post(direct, wish, Some(stub))
    }

    /// Posts a transfer as messages.
    ///
    /// # Errors
    /// As [`UnderWay::attempt`].
    pub(super) fn carry(&self, carrier: &dyn Lrts, wish: Wish) -> Result<Posted, Wish> {
        self.post(carrier, wish, None).map(|tried| match tried {
            Tried::Works(posted) => posted,
            Tried::Fails(..) => unreachable!("only what has a stub can be posted again"),
        })
    }

    fn post(&self, path: &dyn Lrts, wish: Wish, stub: Option<Stub>) -> Result<Tried<Posted>, Wish> {
        let token = wish.token;
        let name = self.open.lock().insert(Open { token, stub }) as Token;
        match (Wish { token: name, ..wish }).over(path) {
            Ok(Posted::Pending) => Ok(Tried::Works(Posted::Pending)),
            Ok(Posted::Done(completion)) => Ok(self.end(completion).map(Posted::Done)),
            Err(wish) => {
                self.open.lock().remove(name as usize);
                Err(Wish { token, ..wish })
            }
        }
    }

    /// A transfer's end, under its poster's name.
    fn end(&self, completion: Completion) -> Tried<Completion> {
        let Open { token, stub } = self.open.lock().remove(completion.token as usize);
        let completion = Completion { token, ..completion };
        match stub {
            Some(stub) => stub.judge(completion),
            None => Tried::Works(completion),
        }
    }

    /// Whether nothing is postponed, of which no descriptor tells when there is room.
    pub(super) fn may_sleep(&self) -> bool {
        self.postponed.lock().is_empty()
    }
}

impl Reach {
    /// Lets the network go on. Returns whether anything happened.
    pub(super) fn progress_on(&self, fabric: &dyn Fabric, sink: &mut dyn Sink) -> bool {
        let happened = fabric.carrier().progress(&mut Watcher { reach: self, fabric, sink });
        let postponed = std::mem::take(&mut *self.under_way.postponed.lock());
        for wish in postponed {
            self.carry_after_all(fabric, wish, sink);
        }
        happened
    }

    /// Posts as messages what was refused otherwise.
    fn carry_after_all(&self, fabric: &dyn Fabric, wish: Wish, sink: &mut dyn Sink) {
        let (node, len) = (wish.key.node, wish.len);
        let posted = self.under_way.carry(fabric.carrier(), wish);
        match count(&self.peers[node.index()].traffic.emulated, len, posted) {
            Ok(Posted::Done(completion)) => sink.completion(completion),
            Ok(Posted::Pending) => {}
            Err(wish) if self.closing.load(Ordering::Acquire) => {
                sink.completion(wish.end(Err(TransferError::PeerLost(node))));
            }
            Err(wish) => self.under_way.postponed.lock().push(wish),
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
            Tried::Fails(wish, cause) => {
                let peer = &self.reach.peers[wish.key.node.index()];
                peer.traffic.one_sided.take_back(wish.len);
                self.reach.give_up(peer, &peer.direct, &cause);
                self.reach.carry_after_all(self.fabric, wish, self.sink);
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
