//! Tags on the frames of a backend that has none of its own: each frame goes with a number and a tag that nobody without the job's key can
//! make, so what is changed, forged, repeated, left out or brought into another order on the way is noticed.
//!
//! 1. Each way from one node to another has a key of its own, a branch of the job's key. Frames are numbered from 0 on, in the order in
//!    which the backend accepts them; the number does not travel. A frame that the backend had no room for keeps its number for the next.
//! 2. The tag is of the frame and its channel, and follows them. A frame is copied for that once.
//! 3. The first wrong tag ends the peer for the layers above, like a loss; nothing of the peer is heard afterwards.
//! 4. Memory that the backend moves by itself, by get and put, has no tags, nor have the backend's own messages.

use super::{inner, pass_on};
use crate::aead::{Aead, TAG_BYTES, branch};
use crate::bootstrap::JobKey;
use crate::error::LrtsError;
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Completion, Lrts, NoRoom, Sink};
use parking_lot::Mutex;
use std::sync::Arc;

/// Bytes behind each frame: its channel and its tag.
const TRAILER_BYTES: usize = 1 + TAG_BYTES;

/// The way to a peer.
struct Outgoing {
    aead: Aead,
    number: u64,
    /// The frame and what follows it, kept for its room.
    bytes: Vec<u8>,
}

/// The way from a peer.
struct Incoming {
    aead: Aead,
    number: u64,
    is_lost: bool,
}

/// A backend whose frames carry tags.
pub(crate) struct Tags {
    inner: Arc<dyn Lrts>,
    /// By node.
    ways: Vec<(Mutex<Outgoing>, Mutex<Incoming>)>,
}

impl Tags {
    /// Puts tags on the frames of a backend of `node`, in a job of so many nodes.
    pub(crate) fn around(inner: Arc<dyn Lrts>, key: &JobKey, node: NodeId, nodes: u32) -> Self {
        let aead = |from: NodeId, to: NodeId| {
            Aead::new(&branch(&key.0, u64::from(from.0) << u32::BITS | u64::from(to.0)))
        };
        let way = |peer| {
            let outgoing = Outgoing { aead: aead(node, peer), number: 0, bytes: Vec::new() };
            let incoming = Incoming { aead: aead(peer, node), number: 0, is_lost: false };
            (Mutex::new(outgoing), Mutex::new(incoming))
        };
        Self { inner, ways: (0..nodes).map(NodeId).map(way).collect() }
    }
}

impl Lrts for Tags {
    pass_on!(inner: name get put get_runs put_runs view claim arm event_fd shutdown is_closed);

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities { frame_bytes_max: inner.frame_bytes_max.saturating_sub(TRAILER_BYTES), ..inner }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        // Held while the backend accepts the frame, so that frames arrive in the order of their numbers.
        let mut way = self.ways[target.index()].0.lock();
        let Outgoing { aead, number, bytes } = &mut *way;
        bytes.clear();
        bytes.extend_from_slice(frame.head);
        bytes.extend_from_slice(frame.body);
        bytes.push(frame.channel as u8);
        let tag = aead.tag(*number, bytes);
        bytes.extend_from_slice(&tag);
        self.inner.send(target, Frame { channel: frame.channel, head: bytes, body: &[] })?;
        *number += 1;
        Ok(())
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        self.inner.progress(&mut Checker { tags: self, sink })
    }
}

/// The wrapped backend's sink: passes on frames whose tags are right, without these.
struct Checker<'a> {
    tags: &'a Tags,
    sink: &'a mut dyn Sink,
}

impl Checker<'_> {
    /// The frame without what follows it, if it is the next one that the peer has sent; `None` if it is not, or the peer is lost.
    ///
    /// # Errors
    /// The first frame of a peer that has a wrong tag.
    fn check<'b>(
        &self,
        source: NodeId,
        channel: Channel,
        bytes: &'b [u8],
    ) -> Result<Option<&'b [u8]>, LrtsError> {
        let mut way = self.tags.ways[source.index()].1.lock();
        if way.is_lost {
            return Ok(None);
        }
        let parts = bytes.split_last_chunk::<TAG_BYTES>();
        let tagged = parts.filter(|(tagged, tag)| way.aead.is_right(way.number, tagged, tag));
        match tagged.and_then(|(tagged, _)| tagged.split_last()) {
            Some((its, frame)) if *its == channel as u8 => {
                way.number += 1;
                Ok(Some(frame))
            }
            _ => {
                way.is_lost = true;
                Err(LrtsError::Forged { peer: source, backend: self.tags.inner.name() })
            }
        }
    }

    fn is_lost(&self, peer: NodeId) -> bool {
        self.tags.ways[peer.index()].1.lock().is_lost
    }
}

impl Sink for Checker<'_> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        match self.check(source, channel, bytes) {
            Ok(Some(frame)) => self.sink.frame(source, channel, frame),
            Ok(None) => {}
            Err(error) => self.sink.peer_lost(error),
        }
    }

    fn completion(&mut self, completion: Completion) {
        self.sink.completion(completion);
    }

    fn peer_closed(&mut self, peer: NodeId) {
        if !self.is_lost(peer) {
            self.sink.peer_closed(peer);
        }
    }

    fn peer_lost(&mut self, error: LrtsError) {
        if !error.peer().is_some_and(|peer| self.is_lost(peer)) {
            self.sink.peer_lost(error);
        }
    }
}

#[cfg(test)]
mod tests;
