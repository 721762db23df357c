//! A chunk that arrives piece by piece, each read to where it belongs: no buffer, no second copy.
//!
//! 1. A chunk is taken so only if it is the next of an open operation and does not reach past its end. Any other is left to be delivered
//!    whole, and found out then.
//! 2. Between its pieces the peer says nothing else, so nothing ends its operation but the end of the peer.

use super::stream::Destination;
use super::talk::Talk;
use super::wire::{Header, OperationId};
use crate::lrts::Completion;

/// Whose data they are.
#[derive(Clone, Copy)]
enum Whose {
    /// Of a get of ours.
    Got,
    /// Of a put of the peer.
    Put,
}

/// What is missing of a chunk.
pub(super) struct Partial {
    whose: Whose,
    id: OperationId,
    /// Bytes. At least one.
    missing: usize,
}

impl Talk {
    fn destination(&mut self, whose: Whose, id: OperationId) -> Option<&mut Destination> {
        match whose {
            Whose::Got => self.poster.destination(id),
            Whose::Put => self.server.destination(id),
        }
    }

    /// Takes the first bytes of a frame of `len` bytes, if it is a chunk that can be taken piece by piece.
    pub(super) fn begin(&mut self, begun: &[u8], len: usize) -> bool {
        let (whose, id, at, data) = match Header::decode(begun) {
            Ok((Header::GetChunk { id, at }, data)) => (Whose::Got, id, at, data),
            Ok((Header::PutChunk { id, at }, data)) => (Whose::Put, id, at, data),
            _ => return false,
        };
        let missing = len - begun.len();
        let Some(into) = self.destination(whose, id) else { return false };
        if into.check(at, data.len() + missing).is_err() {
            return false;
        }
        into.read(data.len(), |place| {
            place.copy_from_slice(data);
            data.len()
        });
        self.partial = Some(Partial { whose, id, missing });
        true
    }

    /// Lets `read` write the next bytes of the chunk that was begun. Returns the completion that they lead to.
    pub(super) fn rest(&mut self, read: &mut dyn FnMut(&mut [u8]) -> usize) -> Option<Completion> {
        let Partial { whose, id, missing } = self.partial.take().expect("a chunk was begun");
        let into = self.destination(whose, id).expect("its operation is open");
        let missing = missing - into.read(missing, read);
        if missing > 0 {
            self.partial = Some(Partial { whose, id, missing });
            return None;
        }
        match whose {
            Whose::Got => self.poster.end_if_full(id),
            Whose::Put => {
                self.server.end_if_full(id, &mut self.outgoing);
                None
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use crate::emulated::Emulated;
    use crate::emulated::reader::Reader;
    use crate::emulated::wire::Header;
    use crate::error::LrtsError;
    use crate::frame::Channel;
    use crate::ids::NodeId;
    use crate::lrts::{Completion, Get, Lrts, Posted, Sink};
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
        let mut reader = Reader { emulated: &node, sink: &mut ended };
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
        let mut reader = Reader { emulated: &node, sink: &mut ended };
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
