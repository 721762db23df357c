//! The wrapped backend's sink: reads our channel, passes the rest on.

use super::Emulated;
use super::talk::{Peer, Presence};
use crate::error::LrtsError;
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Sink};
use std::sync::atomic::Ordering;

/// See the file's head.
pub(super) struct Reader<'a, L> {
    pub(super) emulated: &'a Emulated<L>,
    pub(super) sink: &'a mut dyn Sink,
}

impl<L: Lrts> Reader<'_, L> {
    fn peer(&self, node: NodeId) -> Option<&Peer> {
        self.emulated.peers.get(node.index()).filter(|peer| !peer.ignored.load(Ordering::Acquire))
    }

    /// Ends the talk with a peer; its operations complete before anybody hears of the end.
    fn end(&mut self, node: NodeId, presence: Presence) {
        let Some(peer) = self.emulated.peers.get(node.index()) else { return };
        let mut talk = peer.talk.lock();
        let unfinished = talk.end(presence);
        peer.note(&talk);
        drop(talk);
        for completion in unfinished {
            self.sink.completion(completion);
        }
    }
}

impl<L: Lrts> Sink for Reader<'_, L> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        let Some(peer) = self.peer(source) else { return };
        if channel != Channel::Emulated {
            self.sink.frame(source, channel, bytes);
            return;
        }
        let mut talk = peer.talk.lock();
        let read = talk.read(bytes);
        peer.note(&talk);
        drop(talk);
        match read {
            Ok(None) => {}
            Ok(Some(completion)) => self.sink.completion(completion),
            Err(cause) => {
                self.end(source, Presence::Lost);
                self.sink.peer_lost(LrtsError::Protocol {
                    peer: source,
                    backend: self.emulated.name(),
                    what: "transfer frame",
                    cause,
                });
            }
        }
    }

    fn begin(&mut self, source: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
        channel == Channel::Emulated
            && self.peer(source).is_some_and(|peer| peer.talk.lock().begin(begun, len))
    }

    fn rest(&mut self, source: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
        let peer = self.peer(source).expect("a peer that is ignored begins nothing");
        let mut talk = peer.talk.lock();
        let completion = talk.rest(read);
        peer.note(&talk);
        drop(talk);
        if let Some(completion) = completion {
            self.sink.completion(completion);
        }
    }

    fn completion(&mut self, completion: Completion) {
        self.sink.completion(completion);
    }

    fn peer_closed(&mut self, peer: NodeId) {
        if self.peer(peer).is_some() {
            self.end(peer, Presence::Closed);
            self.sink.peer_closed(peer);
        }
    }

    fn peer_lost(&mut self, error: LrtsError) {
        match error.peer() {
            Some(peer) if self.peer(peer).is_none() => {}
            Some(peer) => {
                self.end(peer, Presence::Lost);
                self.sink.peer_lost(error);
            }
            None => self.sink.peer_lost(error),
        }
    }
}
