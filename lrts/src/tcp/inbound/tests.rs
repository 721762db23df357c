//! Tests of what arrives: cut anywhere, in clear and with tags.

use super::*;
use crate::error::LrtsError;
use crate::frame::{Channel, Frame};
use crate::lrts::Completion;
use crate::tcp::header::FRAME_BYTES_MAX;
use crate::tcp::protection::Protection;
use crate::tcp::seal::lead_bytes;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

#[derive(Default)]
struct Heap {
    frames: Vec<(Channel, Vec<u8>)>,
    /// Whether it takes frames of the channel `Emulated` piece by piece.
    takes_pieces: bool,
    /// Bytes that are missing of the last frame, as they have been written.
    place: Vec<u8>,
}

impl Sink for Heap {
    fn frame(&mut self, _: NodeId, channel: Channel, bytes: &[u8]) {
        assert!(self.place.is_empty(), "a frame within another");
        self.frames.push((channel, bytes.to_vec()));
    }
    fn begin(&mut self, _: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
        if !self.takes_pieces || channel != Channel::Emulated {
            return false;
        }
        self.frames.push((channel, begun.to_vec()));
        self.place = vec![0; len - begun.len()];
        true
    }
    fn rest(&mut self, _: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
        let count = read(&mut self.place);
        self.frames.last_mut().expect("it was begun").1.extend(self.place.drain(..count));
    }
    fn completion(&mut self, _: Completion) {}
    fn peer_closed(&mut self, _: NodeId) {}
    fn peer_lost(&mut self, _: LrtsError) {}
}

fn wire(frames: &[(Channel, Vec<u8>)]) -> Vec<u8> {
    sealed_wire(&mut None, frames)
}

fn sealed_wire(seal: &mut Option<Seal>, frames: &[(Channel, Vec<u8>)]) -> Vec<u8> {
    let encode = |(channel, bytes): &(Channel, Vec<u8>)| {
        let header = Header::Frame { channel: *channel, len: bytes.len() }.encode();
        let Some(seal) = seal else { return [&header, &bytes[..]].concat() };
        let mut staged = Vec::new();
        let rest = seal.stage(&header, Frame { channel: *channel, head: bytes, body: &[] }, &mut staged);
        [&staged, rest].concat()
    };
    frames.iter().flat_map(encode).collect()
}

fn seal(protection: Protection) -> Option<Seal> {
    Seal::new(protection, &[7; 32])
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
            if !matches!(last, Heard::Bytes(_)) {
                return last;
            }
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
    for protection in [Protection::Clear, Protection::Tags, Protection::Seals] {
        let bytes = sealed_wire(&mut seal(protection), &frames);
        for takes_pieces in [false, true] {
            for piece in [1, 4, 5, 6, 20, 21, 22, 1_023, 4_096, 70_000, bytes.len()] {
                let mut inbound = Inbound::new(seal(protection));
                let mut heap = Heap { takes_pieces, ..Heap::default() };
                assert_eq!(pour(&bytes, piece, &mut inbound, &mut heap), Heard::Bytes(0));
                assert!(
                    heap.frames == frames,
                    "pieces of {piece}, takes pieces: {takes_pieces}, {protection:?}"
                );
                assert!(inbound.buffer.len() <= lead_bytes(FRAME_BYTES_MAX) + FRAME_BYTES_MAX);
            }
        }
    }
}

#[test]
fn what_a_sink_takes_needs_no_buffer() {
    for protection in [Protection::Clear, Protection::Tags, Protection::Seals] {
        let mut inbound = Inbound::new(seal(protection));
        let mut heap = Heap { takes_pieces: true, ..Heap::default() };
        let frames = [(Channel::Emulated, vec![3; FRAME_BYTES_MAX])];
        let bytes = sealed_wire(&mut seal(protection), &frames);
        assert_eq!(pour(&bytes, bytes.len(), &mut inbound, &mut heap), Heard::Bytes(0));
        assert!(heap.frames == frames);
        assert_eq!(inbound.buffer.len(), BUFFER_BYTES);
    }
}

#[test]
fn a_connection_that_ends_within_a_frame_has_ended() {
    for takes_pieces in [false, true] {
        let (mut inbound, mut heap) = (Inbound::new(None), Heap { takes_pieces, ..Heap::default() });
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
    let (mut inbound, mut heap) = (Inbound::new(None), Heap::default());
    let heard = pour(&[0xff; 64], 64, &mut inbound, &mut heap);
    assert!(matches!(heard, Heard::Breach(_)), "{heard:?}");
    assert_eq!(inbound.buffer.len(), BUFFER_BYTES);
}

#[test]
fn a_forged_length_costs_no_memory() {
    let mut bytes = sealed_wire(&mut seal(Protection::Tags), &[(Channel::Runtime, vec![3; 100])]);
    bytes[2] ^= 4;
    let (mut inbound, mut heap) = (Inbound::new(seal(Protection::Tags)), Heap::default());
    assert_eq!(pour(&bytes, bytes.len(), &mut inbound, &mut heap), Heard::Forged);
    assert_eq!((inbound.buffer.len(), heap.frames.len()), (BUFFER_BYTES, 0));
}

#[test]
fn bytes_that_are_not_checked_are_told_to_nobody() {
    for protection in [Protection::Tags, Protection::Seals] {
        let frames = [(Channel::Emulated, vec![3; 200_000])];
        let bytes = sealed_wire(&mut seal(protection), &frames);
        for wrong in (0..bytes.len()).step_by(997) {
            let mut bytes = bytes.clone();
            bytes[wrong] ^= 1;
            let mut heap = Heap { takes_pieces: true, ..Heap::default() };
            let heard = pour(&bytes, 30_000, &mut Inbound::new(seal(protection)), &mut heap);
            assert_eq!(heard, Heard::Forged, "byte {wrong}");
            let told = heap.frames.first().map_or(&[][..], |(_, bytes)| bytes);
            assert!(told.len() <= wrong && told.iter().all(|byte| *byte == 3), "byte {wrong}");
        }
    }
}

#[test]
fn the_last_word_is_the_last() {
    let goodbye = Header::Goodbye.encode();
    let (mut inbound, mut heap) = (Inbound::new(None), Heap::default());
    let said = [&wire(&[(Channel::Runtime, vec![1])])[..], &goodbye].concat();
    assert_eq!(pour(&said, said.len(), &mut inbound, &mut heap), Heard::Goodbye);
    assert_eq!(heap.frames.len(), 1, "frames before it count");
    let more = [&goodbye[..], &[0]].concat();
    let heard = pour(&more, more.len(), &mut Inbound::new(None), &mut heap);
    assert!(matches!(heard, Heard::Breach(_)), "{heard:?}");
    let (near, far) = sockets();
    drop(far);
    let heard = Inbound::new(None).read(&near, NodeId(1), &mut heap);
    assert!(matches!(heard, Heard::End(_)), "{heard:?}");
}
