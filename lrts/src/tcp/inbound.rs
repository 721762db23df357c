//! Inbound half of a connection: the bytes that arrived, cut into frames.
//!
//! 1. A frame is gathered in a buffer, which grows to the longest that a header announced; that length was checked against the bound first.
//! 2. The sink may know where the bytes of a long frame belong. What is missing of it is then read to there, and only what follows it
//!    into the buffer.

use super::header::{HEADER_BYTES, Header};
use crate::ids::NodeId;
use crate::lrts::Sink;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags};
use std::io::IoSliceMut;

/// Room for a few hundred small frames per system call.
const BUFFER_BYTES: usize = 64 << 10;

/// What is read into the buffer together with the rest of a frame that goes elsewhere: the header of the next one, and few of its bytes,
/// so that the others can go elsewhere too.
const AFTER_BYTES: usize = 4 << 10;

/// Reads from one connection before the next has its turn.
const READS: usize = 4;

/// Result of reading a connection.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// The kernel has nothing more now, or the turn is over.
    Bytes(usize),
    /// The peer's last word; nothing follows.
    Goodbye,
    /// The connection ended, for this reason.
    End(String),
    /// The peer sent what no correct peer sends.
    Breach(String),
}

/// Result of one read.
struct Received {
    /// Bytes; none at the end of the connection.
    count: usize,
    /// Whether the kernel had no more.
    is_all: bool,
}

/// One connection's way in.
pub(super) struct Inbound {
    buffer: Vec<u8>,
    have: usize,
    /// Bytes of a frame that the sink has begun to take. The buffer is empty while there are any.
    missing: usize,
}

impl Inbound {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; BUFFER_BYTES], have: 0, missing: 0 }
    }

    /// Reads and delivers what has arrived.
    pub(super) fn read(&mut self, socket: &OwnedFd, source: NodeId, sink: &mut dyn Sink) -> Heard {
        let mut total = 0;
        for _ in 0..READS {
            match self.receive(socket, source, sink) {
                Ok(Received { count: 0, .. }) => {
                    return Heard::End("the connection was closed without a goodbye".to_owned());
                }
                Ok(Received { count, is_all }) => {
                    total += count;
                    match self.deliver(source, sink) {
                        Ok(false) if is_all => return Heard::Bytes(total),
                        Ok(false) => {}
                        Ok(true) => return Heard::Goodbye,
                        Err(cause) => return Heard::Breach(cause),
                    }
                }
                Err(Errno::AGAIN) => return Heard::Bytes(total),
                Err(Errno::INTR) => {}
                Err(errno) => return Heard::End(errno.to_string()),
            }
        }
        Heard::Bytes(total)
    }

    /// Asks the kernel once.
    fn receive(&mut self, socket: &OwnedFd, source: NodeId, sink: &mut dyn Sink) -> Result<Received, Errno> {
        if self.missing == 0 {
            let room = &mut self.buffer[self.have..];
            let (count, _) = rustix::net::recv(socket, &mut *room, RecvFlags::DONTWAIT)?;
            let is_all = count < room.len();
            self.have += count;
            return Ok(Received { count, is_all });
        }
        let Self { buffer, missing, .. } = self;
        let after = &mut buffer[..AFTER_BYTES];
        let mut received = Err(Errno::AGAIN);
        sink.rest(source, &mut |place| {
            let mut rooms = [IoSliceMut::new(place), IoSliceMut::new(after)];
            let none = &mut RecvAncillaryBuffer::default();
            received = rustix::net::recvmsg(socket, &mut rooms, none, RecvFlags::DONTWAIT);
            received.as_ref().map_or(0, |received| received.bytes.min(*missing))
        });
        let count = received?.bytes;
        let is_all = count < *missing + AFTER_BYTES;
        self.have = count.saturating_sub(*missing);
        *missing = missing.saturating_sub(count);
        Ok(Received { count, is_all })
    }

    /// Delivers all whole frames and makes room for the rest of the next. `true` after a goodbye.
    fn deliver(&mut self, source: NodeId, sink: &mut dyn Sink) -> Result<bool, String> {
        let mut start = 0;
        let mut need = HEADER_BYTES;
        while let Some((header, rest)) = self.buffer[start..self.have].split_first_chunk::<HEADER_BYTES>() {
            match Header::decode(*header)? {
                Header::Goodbye if rest.is_empty() => return Ok(true),
                Header::Goodbye => return Err(format!("{} bytes after its goodbye", rest.len())),
                Header::Frame { channel, len } => match rest.get(..len) {
                    Some(bytes) => sink.frame(source, channel, bytes),
                    None if sink.begin(source, channel, rest, len) => {
                        self.missing = len - rest.len();
                        self.have = 0;
                        return Ok(false);
                    }
                    None => {
                        need = HEADER_BYTES + len;
                        break;
                    }
                },
            }
            let len = u32::from_le_bytes([header[0], header[1], header[2], header[3]]) as usize;
            start += HEADER_BYTES + len;
        }
        self.buffer.copy_within(start..self.have, 0);
        self.have -= start;
        if need > self.buffer.len() {
            self.buffer.resize(need, 0);
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::LrtsError;
    use crate::frame::Channel;
    use crate::lrts::Completion;
    use crate::tcp::header::FRAME_BYTES_MAX;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    #[derive(Default)]
    struct Heap {
        frames: Vec<(Channel, Vec<u8>)>,
        /// Whether it takes frames of the channel `Emulated` piece by piece.
        takes_pieces: bool,
        /// Bytes that are missing of the last frame.
        missing: usize,
    }

    impl Sink for Heap {
        fn frame(&mut self, _: NodeId, channel: Channel, bytes: &[u8]) {
            assert_eq!(self.missing, 0, "a frame within another");
            self.frames.push((channel, bytes.to_vec()));
        }
        fn begin(&mut self, _: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
            if !self.takes_pieces || channel != Channel::Emulated {
                return false;
            }
            self.frames.push((channel, begun.to_vec()));
            self.missing = len - begun.len();
            true
        }
        fn rest(&mut self, _: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
            let mut place = vec![0; self.missing];
            let count = read(&mut place);
            self.missing -= count;
            self.frames.last_mut().expect("it was begun").1.extend_from_slice(&place[..count]);
        }
        fn completion(&mut self, _: Completion) {}
        fn peer_closed(&mut self, _: NodeId) {}
        fn peer_lost(&mut self, _: LrtsError) {}
    }

    fn wire(frames: &[(Channel, Vec<u8>)]) -> Vec<u8> {
        let encode = |(channel, bytes): &(Channel, Vec<u8>)| {
            [&Header::Frame { channel: *channel, len: bytes.len() }.encode()[..], bytes].concat()
        };
        frames.iter().flat_map(encode).collect()
    }

    fn sockets() -> (OwnedFd, OwnedFd) {
        rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::NONBLOCK, None)
            .expect("a socket pair")
    }

    /// Writes in pieces of `piece` bytes, reading after each; returns what reading last led to.
    fn pour(bytes: &[u8], piece: usize, inbound: &mut Inbound, heap: &mut Heap) -> Heard {
        let (near, far) = sockets();
        let mut last = Heard::Bytes(0);
        for mut piece in bytes.chunks(piece) {
            while !piece.is_empty() {
                piece = &piece[rustix::io::write(&far, piece).unwrap_or(0)..];
                last = inbound.read(&near, NodeId(1), heap);
            }
        }
        while matches!(last, Heard::Bytes(1..)) {
            last = inbound.read(&near, NodeId(1), heap);
        }
        last
    }

    #[test]
    fn frames_arrive_whole_however_they_are_cut() {
        let lens = [0, 1, BUFFER_BYTES - HEADER_BYTES, 3, BUFFER_BYTES, 0, 300_000, 7];
        let frames: Vec<_> = lens
            .iter()
            .enumerate()
            .map(|(index, len)| {
                let channel = if index % 2 == 0 { Channel::Runtime } else { Channel::Emulated };
                (channel, (0..*len).map(|byte| (byte * 7 + index) as u8).collect())
            })
            .collect();
        let bytes = wire(&frames);
        for takes_pieces in [false, true] {
            for piece in [1, 4, 5, 6, 4_096, 70_000, bytes.len()] {
                let (mut inbound, mut heap) = (Inbound::new(), Heap { takes_pieces, ..Heap::default() });
                assert_eq!(pour(&bytes, piece, &mut inbound, &mut heap), Heard::Bytes(0));
                assert!(heap.frames == frames, "pieces of {piece} bytes, takes pieces: {takes_pieces}");
                assert!(inbound.buffer.len() <= HEADER_BYTES + FRAME_BYTES_MAX);
            }
        }
    }

    #[test]
    fn what_a_sink_takes_needs_no_buffer() {
        let (mut inbound, mut heap) = (Inbound::new(), Heap { takes_pieces: true, ..Heap::default() });
        let bytes = wire(&[(Channel::Emulated, vec![3; FRAME_BYTES_MAX])]);
        assert_eq!(pour(&bytes, bytes.len(), &mut inbound, &mut heap), Heard::Bytes(0));
        assert_eq!(heap.frames, [(Channel::Emulated, vec![3; FRAME_BYTES_MAX])]);
        assert_eq!(inbound.buffer.len(), BUFFER_BYTES);
    }

    #[test]
    fn a_connection_that_ends_within_a_frame_has_ended() {
        for takes_pieces in [false, true] {
            let (mut inbound, mut heap) = (Inbound::new(), Heap { takes_pieces, ..Heap::default() });
            let (near, far) = sockets();
            let bytes = wire(&[(Channel::Emulated, vec![3; 1_000])]);
            rustix::io::write(&far, &bytes[..500]).expect("room");
            assert_eq!(inbound.read(&near, NodeId(1), &mut heap), Heard::Bytes(500));
            drop(far);
            let heard = inbound.read(&near, NodeId(1), &mut heap);
            assert!(matches!(heard, Heard::End(_)), "{heard:?}");
        }
    }

    #[test]
    fn a_lie_about_the_length_costs_no_memory() {
        let (mut inbound, mut heap) = (Inbound::new(), Heap::default());
        let heard = pour(&[0xff; 64], 64, &mut inbound, &mut heap);
        assert!(matches!(heard, Heard::Breach(_)), "{heard:?}");
        assert_eq!(inbound.buffer.len(), BUFFER_BYTES);
    }

    #[test]
    fn the_last_word_is_the_last() {
        let goodbye = Header::Goodbye.encode();
        let (mut inbound, mut heap) = (Inbound::new(), Heap::default());
        let said = [&wire(&[(Channel::Runtime, vec![1])])[..], &goodbye].concat();
        assert_eq!(pour(&said, said.len(), &mut inbound, &mut heap), Heard::Goodbye);
        assert_eq!(heap.frames.len(), 1, "frames before it count");
        let more = [&goodbye[..], &[0]].concat();
        let heard = pour(&more, more.len(), &mut Inbound::new(), &mut heap);
        assert!(matches!(heard, Heard::Breach(_)), "{heard:?}");
        let (near, far) = sockets();
        drop(far);
        let heard = Inbound::new().read(&near, NodeId(1), &mut heap);
        assert!(matches!(heard, Heard::End(_)), "{heard:?}");
    }
}
