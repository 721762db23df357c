//! Reader: the wrapped backend's sink, which reads the channel of emulated operations and passes the rest on.

use super::talk::Talks;
use crate::error::LrtsError;
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Lrts, Sink};
use crate::peer_state::PeerState;

/// The sink that the wrapped backend delivers to.
pub(super) struct Reader<'a> {
    pub(super) talks: &'a Talks,
    /// The wrapped backend.
    pub(super) inner: &'a dyn Lrts,
    pub(super) sink: &'a mut dyn Sink,
}

impl Reader<'_> {
    /// Tells of a loss, and only then of the operations that fail by it: the cause comes first.
    fn lose(&mut self, node: NodeId, error: LrtsError) {
        self.sink.peer_lost(error);
        self.end(node, PeerState::Lost);
    }

    /// Ends the talk with a peer: its operations complete.
    fn end(&mut self, node: NodeId, state: PeerState) {
        for completion in self.talks.end(node, state) {
            self.sink.completion(completion);
        }
    }
}

impl Sink for Reader<'_> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        if self.talks.is_lost(source) {
            return;
        }
        if channel != Channel::Emulated {
            self.sink.frame(source, channel, bytes);
            return;
        }
        let Some(peer) = self.talks.with(source) else { return };
        let mut talk = peer.talk.lock();
        let read = talk.read(bytes);
        peer.note(&talk);
        drop(talk);
        match read {
            Ok(None) => {}
            Ok(Some(completion)) => self.sink.completion(completion),
            Err(cause) => {
                let (backend, what) = (self.inner.name(), "transfer frame");
                self.lose(source, LrtsError::Protocol { peer: source, backend, what, cause });
            }
        }
    }

    fn begin(&mut self, source: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
        channel == Channel::Emulated
            && !self.talks.is_lost(source)
            && self.talks.with(source).is_some_and(|peer| peer.talk.lock().begin(begun, len))
    }

    fn rest(&mut self, source: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
        let peer = self.talks.with(source).expect("it has begun something");
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
        if !self.talks.is_lost(peer) {
            self.end(peer, PeerState::Closed);
            self.sink.peer_closed(peer);
        }
    }

    fn peer_lost(&mut self, error: LrtsError) {
        match error.peer() {
            Some(peer) if self.talks.is_lost(peer) => {}
            Some(peer) => self.lose(peer, error),
            None => self.sink.peer_lost(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::emulated::Emulated;
    use crate::emulated::wire::Header;
    use crate::lrts::{Get, Posted};
    use crate::memcpy::{Hub, Memcpy};
    use crate::memory::MemoryMut;
    use crate::region::{RegionKey, Regions};
    use std::sync::Arc;

    const ONE: NodeId = NodeId(1);

    /// Remembers what ended.
    #[derive(Default)]
    struct Ended(Vec<Completion>);

    impl Sink for Ended {
        fn frame(&mut self, _: NodeId, _: Channel, bytes: &[u8]) {
            panic!("{bytes:?} for the runtime");
        }
        fn completion(&mut self, completion: Completion) {
            self.0.push(completion);
        }
        fn peer_closed(&mut self, _: NodeId) {}
        fn peer_lost(&mut self, error: LrtsError) {
            panic!("{error}");
        }
    }

    /// Node 0 with one open get of 100 bytes, of node 1; it is operation 1.
    fn asking() -> Emulated<Memcpy> {
        let hub = Hub::new(2).expect("descriptors");
        let regions = Arc::new(Regions::new(NodeId(0)).expect("a board"));
        let node = Emulated::new(Memcpy::open(&hub, Arc::clone(&regions)), regions, 2);
        let key = RegionKey { node: ONE, slot: 0, generation: 1, len: 100 };
        let get = Get { key, offset: 0, into: MemoryMut::heap_zeroed(100), len: 100, token: 7 };
        assert!(matches!(node.get(get), Ok(Posted::Pending)));
        node
    }

    /// The first bytes of a frame: a header and some of its data.
    fn begun(header: Header, data: &[u8]) -> Vec<u8> {
        [header.encode().as_slice(), data].concat()
    }

    #[test]
    fn a_chunk_is_read_to_where_it_belongs() {
        let node = asking();
        let mut ended = Ended::default();
        let mut reader = node.reader(&mut ended);
        let first = begun(Header::GetChunk { id: 1, at: 0 }, &[1; 10]);
        assert!(reader.begin(ONE, Channel::Emulated, &first, first.len() + 90));
        for (room, count) in [(90, 0), (90, 40), (50, 50)] {
            reader.rest(ONE, &mut |place| {
                assert_eq!(place.len(), room);
                place[..count].fill(2);
                count
            });
        }
        let [completion] = &ended.0[..] else { panic!("{:?}", ended.0) };
        assert_eq!((completion.token, &completion.result), (7, &Ok(100)));
        let memory = completion.memory.as_ref().expect("it comes back");
        assert_eq!(memory.as_slice(), [[1; 10].as_slice(), &[2; 90]].concat());
    }

    #[test]
    fn what_is_no_next_chunk_is_left_to_be_delivered_whole() {
        let node = asking();
        let mut ended = Ended::default();
        let mut reader = node.reader(&mut ended);
        let next = begun(Header::GetChunk { id: 1, at: 0 }, &[]);
        for (what, channel, begun, len) in [
            ("another channel", Channel::Runtime, next.clone(), next.len() + 100),
            ("half a header", Channel::Emulated, next[..next.len() - 1].to_vec(), next.len() + 100),
            ("one byte too many", Channel::Emulated, next.clone(), next.len() + 101),
            ("a start elsewhere", Channel::Emulated, begun(Header::GetChunk { id: 1, at: 1 }, &[]), 60),
            ("another get", Channel::Emulated, begun(Header::GetChunk { id: 2, at: 0 }, &[]), 60),
            ("a put", Channel::Emulated, begun(Header::PutChunk { id: 1, at: 0 }, &[]), 60),
        ] {
            assert!(!reader.begin(ONE, channel, &begun, len), "{what}");
        }
        assert!(reader.begin(ONE, Channel::Emulated, &next, next.len() + 100), "nothing has changed");
        reader.peer_closed(ONE);
        assert_eq!(ended.0.len(), 1, "the get ends with its peer");
        assert!(ended.0[0].result.is_err());
    }
}
