//! Doors of tcp for the fuzzers: what a socket of this backend could be told.

use super::handshake::{Acceptor, Connector, Failure, Hello, Line, noise};
use super::inbound::{Heard, Inbound};
use super::protection::{Protection, Terms};
use crate::bootstrap::JobKey;
use crate::error::LrtsError;
use crate::frame::Channel;
use crate::ids::NodeId;
use crate::lrts::{Completion, Sink};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType};

const KEY: JobKey = JobKey([7; 32]);

fn sockets() -> (OwnedFd, OwnedFd) {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    rustix::net::socketpair(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("two descriptors")
}

/// Counts what comes out: frames of the channel `Emulated` piece by piece, others whole.
#[derive(Default)]
struct Tally {
    bytes: usize,
    /// Bytes that are missing of a frame, as they have been written.
    place: Vec<u8>,
}

impl Sink for Tally {
    fn frame(&mut self, _source: NodeId, _channel: Channel, bytes: &[u8]) {
        self.bytes += bytes.len();
    }

    fn begin(&mut self, _source: NodeId, channel: Channel, begun: &[u8], len: usize) -> bool {
        if channel != Channel::Emulated {
            return false;
        }
        self.bytes += begun.len();
        self.place = vec![0; len - begun.len()];
        true
    }

    fn rest(&mut self, _source: NodeId, read: &mut dyn FnMut(&mut [u8]) -> usize) {
        self.bytes += {
            let count = read(&mut self.place);
            self.place.drain(..count).len()
        };
    }

    fn completion(&mut self, _completion: Completion) {}

    fn peer_closed(&mut self, _peer: NodeId) {}

    fn peer_lost(&mut self, _error: LrtsError) {}
}

/// A connection delivers `bytes` in pieces of `piece` bytes; returns how many of them were frames' bodies, and whether the peer
/// was found out.
pub fn frames(bytes: &[u8], piece: usize) -> (usize, bool) {
    let (near, far) = sockets();
    let (mut inbound, mut tally) = (Inbound::new(None), Tally::default());
    for mut rest in bytes.chunks(piece.max(1)) {
        while !rest.is_empty() {
            rest = &rest[rustix::io::write(&far, rest).unwrap_or(0)..];
            match inbound.read(&near, NodeId(1), &mut tally) {
                Heard::Bytes(_) => {}
                Heard::Goodbye => return (tally.bytes, false),
                Heard::End(_) | Heard::Breach(_) | Heard::Forged => return (tally.bytes, true),
            }
        }
    }
    while matches!(inbound.read(&near, NodeId(1), &mut tally), Heard::Bytes(1..)) {}
    (tally.bytes, false)
}

/// A stranger says `bytes` to a node that listens; returns whether it was believed.
pub fn accept(bytes: &[u8]) -> bool {
    let (near, far) = sockets();
    let _ = rustix::io::write(&far, bytes);
    drop(far);
    matches!(Acceptor::new().advance(&near, &KEY), Ok(Some(_)))
}

/// A stranger says `bytes` to a node that connects; returns whether it was believed.
pub fn connect(bytes: &[u8]) -> bool {
    let (near, far) = sockets();
    let terms = Terms { protection: Protection::Tags, is_near: false };
    let hello = Hello { from: NodeId(1), to: NodeId(0), line: Line::Frames, terms };
    let Ok(mut connector) = Connector::start(&near, &KEY, hello) else { return false };
    let _ = rustix::io::write(&far, bytes);
    drop(far);
    matches!(connector.advance(&near), Ok(Some(_)))
}

/// A stranger who has the key says `hello` instead of a hello; returns the node it was taken for.
pub fn greet(hello: &[u8]) -> Option<NodeId> {
    let (near, far) = sockets();
    let mut acceptor = Acceptor::new();
    let mut state = noise(&KEY).build_initiator().expect("all parameters are there");
    let (mut message, mut reply) = ([0; 65_535], [0; 128]);
    let framed = |message: &[u8]| [&(message.len() as u16).to_le_bytes()[..], message].concat();
    let len = state.write_message(&[], &mut message).expect("it is its turn");
    rustix::io::write(&far, &framed(&message[..len])).expect("there is room");
    assert!(matches!(acceptor.advance(&near, &KEY), Ok(None)), "it waits for the hello");
    let len = rustix::io::read(&far, &mut reply).expect("it answered");
    state.read_message(&reply[2..len], &mut message).expect("it has the key");
    let mut state = state.into_transport_mode().expect("the handshake is over");
    let len = state.write_message(hello, &mut message).ok()?;
    rustix::io::write(&far, &framed(&message[..len])).ok()?;
    match acceptor.advance(&near, &KEY) {
        Ok(proved) => proved.map(|proved| proved.hello.from),
        Err(Failure::Ended(_) | Failure::Stranger(_)) => None,
    }
}
