//! Link: the private socket to one neighbour, which passes descriptors and tells of its death.
//!
//! 1. One packet is one message: [`Wire`], encoded with fixed-width integers, and the descriptors it speaks of.
//! 2. The first packet each way is the hello, the only one; then come announcements of arenas.
//! 3. End of file means that the neighbour's end is gone, and with it the process or the node in it.
//! 4. A packet that does not decode, or that carries another number of descriptors than it
//!    needs, is invalid; its descriptors are closed. Nothing blocks.

use crate::codec;
use crate::ids::NodeId;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::{Deserialize, Serialize};
use std::io::{IoSlice, IoSliceMut};
use std::mem::MaybeUninit;

/// Tells our packets, and this version of them, from anybody else's.
const MAGIC: u64 = u64::from_le_bytes(*b"chareLK1");

/// No packet is longer; the hello has 61 bytes.
const PACKET_BYTES_MAX: usize = 128;

/// The hello's descriptors; no packet has more.
const DESCRIPTORS_MAX: usize = 3;

/// Introduction of a neighbour, sent once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Introduction {
    /// Its number in the job.
    pub(crate) node: NodeId,
    /// Its process, as its own pid namespace counts.
    pub(crate) pid: i32,
    /// Where in its address space `pattern` lies.
    pub(crate) probe_address: u64,
    /// The words that a reader finds there.
    pub(crate) pattern: [u64; 2],
    /// Eight bytes that anybody may write at any time.
    pub(crate) scratch_address: u64,
    /// Bytes of the ring it reads from us.
    pub(crate) ring_bytes: u64,
}

#[derive(Serialize, Deserialize)]
enum Wire {
    Hello(Introduction),
    Arena { row: u32, len: u64 },
}

/// A decoded packet.
#[derive(Debug)]
pub(crate) enum Message {
    /// The first packet.
    Hello {
        introduction: Introduction,
        /// Its table of regions.
        board: OwnedFd,
        /// The ring it reads from us.
        ring: OwnedFd,
        /// The descriptor that wakes it.
        doorbell: OwnedFd,
    },
    /// A new arena of its.
    Arena {
        /// Which row it continues, or begins.
        row: u32,
        len: u64,
        /// `None`: the kernel had no room for it in our table of open files.
        memory: Option<OwnedFd>,
    },
}

/// Result of one look at the socket.
#[derive(Debug)]
pub(crate) enum Received {
    Nothing,
    Message(Message),
    /// End of file.
    Ended,
    /// Bytes that no correct neighbour sends.
    Invalid(String),
}

/// The socket to one neighbour.
#[derive(Debug)]
pub(crate) struct Link {
    peer: NodeId,
    socket: OwnedFd,
}

impl Link {
    /// The link over a connected `SOCK_SEQPACKET` socket.
    pub(crate) fn new(peer: NodeId, socket: OwnedFd) -> Self {
        Self { peer, socket }
    }

    /// The node at the other end.
    pub(crate) fn peer(&self) -> NodeId {
        self.peer
    }

    /// To wait on: readable when there is a packet or the end.
    pub(crate) fn socket(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Introduces this node. The descriptors are board, ring and doorbell.
    ///
    /// # Errors
    /// The kernel's; `AGAIN` when the socket is full.
    pub(crate) fn introduce(
        &self,
        introduction: Introduction,
        descriptors: [BorrowedFd<'_>; 3],
    ) -> Result<(), Errno> {
        self.send(&Wire::Hello(introduction), &descriptors)
    }

    /// Announces an arena of this node, which stands behind the others of its row.
    ///
    /// # Errors
    /// As for `introduce`.
    pub(crate) fn announce(&self, row: u32, len: u64, memory: BorrowedFd<'_>) -> Result<(), Errno> {
        self.send(&Wire::Arena { row, len }, &[memory])
    }

    fn send(&self, wire: &Wire, descriptors: &[BorrowedFd<'_>]) -> Result<(), Errno> {
        let mut packet = [0; PACKET_BYTES_MAX];
        let len = codec::encode_to_slice(&(MAGIC, wire), &mut packet).expect("a packet is plain data");
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        let fits = control.push(SendAncillaryMessage::ScmRights(descriptors));
        assert!(fits, "the descriptors fit their buffer");
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        rustix::io::retry_on_intr(|| {
            rustix::net::sendmsg(&self.socket, &[IoSlice::new(&packet[..len])], &mut control, flags)
        })?;
        Ok(())
    }

    /// Takes one packet, if there is one.
    pub(crate) fn receive(&self) -> Received {
        let mut packet = [0; PACKET_BYTES_MAX];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS_MAX))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::DONTWAIT | RecvFlags::CMSG_CLOEXEC;
        let received = rustix::io::retry_on_intr(|| {
            rustix::net::recvmsg(&self.socket, &mut [IoSliceMut::new(&mut packet)], &mut control, flags)
        });
        let received = match received {
            Ok(received) => received,
            Err(Errno::AGAIN) => return Received::Nothing,
            Err(_) => return Received::Ended,
        };
        let descriptors: Vec<OwnedFd> = control
            .drain()
            .filter_map(|message| match message {
                RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
                _ => None,
            })
            .flatten()
            .collect();
        if received.bytes == 0 {
            return Received::Ended;
        }
        if received.flags.contains(ReturnFlags::TRUNC) {
            return Received::Invalid(format!("a packet longer than {PACKET_BYTES_MAX} bytes"));
        }
        let without_room = received.flags.contains(ReturnFlags::CTRUNC);
        decode(&packet[..received.bytes], descriptors, without_room)
    }
}

fn decode(packet: &[u8], descriptors: Vec<OwnedFd>, without_room: bool) -> Received {
    let wire = match codec::decode(packet) {
        Ok((MAGIC, wire)) => wire,
        Ok(_) => return Received::Invalid("an unknown kind or version of packet".to_owned()),
        Err(error) => return Received::Invalid(error.to_string()),
    };
    let count = descriptors.len();
    let mut descriptors = descriptors.into_iter();
    let mut next = || descriptors.next();
    match (wire, count) {
        (Wire::Hello(introduction), 3) => match (next(), next(), next()) {
            (Some(board), Some(ring), Some(doorbell)) => {
                Received::Message(Message::Hello { introduction, board, ring, doorbell })
            }
            _ => unreachable!("counted"),
        },
        (Wire::Arena { row, len }, 1) => Received::Message(Message::Arena { row, len, memory: next() }),
        (Wire::Arena { row, len }, 0) if without_room => {
            Received::Message(Message::Arena { row, len, memory: None })
        }
        (Wire::Hello(_), _) if without_room => {
            Received::Invalid("the descriptors did not fit in this process: raise `ulimit -n`".to_owned())
        }
        (_, count) => Received::Invalid(format!("{count} descriptors in one packet")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    fn pair() -> (OwnedFd, Link) {
        let (here, there) =
            rustix::net::socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None)
                .expect("sockets");
        (here, Link::new(NodeId(1), there))
    }

    fn introduction() -> Introduction {
        Introduction {
            node: NodeId(7),
            pid: 42,
            probe_address: u64::MAX,
            pattern: [1, 2],
            scratch_address: 3,
            ring_bytes: 4096,
        }
    }

    fn file() -> OwnedFd {
        rustix::fs::memfd_create("test", rustix::fs::MemfdFlags::CLOEXEC).expect("memory")
    }

    #[test]
    fn a_hello_arrives_with_its_descriptors() {
        let (socket, link) = pair();
        let file = file();
        Link::new(NodeId(0), socket)
            .introduce(introduction(), [file.as_fd(), file.as_fd(), file.as_fd()])
            .expect("room");
        let Received::Message(Message::Hello { introduction: heard, .. }) = link.receive() else {
            panic!("no hello");
        };
        assert_eq!(heard, introduction());
        assert!(matches!(link.receive(), Received::Ended));
    }

    #[test]
    fn an_announcement_needs_its_descriptor() {
        let (socket, link) = pair();
        let sender = Link::new(NodeId(0), socket);
        sender.announce(3, 4096, file().as_fd()).expect("room");
        assert!(matches!(
            link.receive(),
            Received::Message(Message::Arena { row: 3, len: 4096, memory: Some(_) })
        ));
        sender.send(&Wire::Arena { row: 4, len: 1 }, &[]).expect("room");
        assert!(matches!(link.receive(), Received::Invalid(_)));
        assert!(matches!(link.receive(), Received::Nothing));
    }

    #[test]
    fn foreign_bytes_are_invalid() {
        let (socket, link) = pair();
        let mut good = [0; PACKET_BYTES_MAX];
        let len =
            codec::encode_to_slice(&(MAGIC, Wire::Hello(introduction())), &mut good).expect("plain data");
        let mut other_version = good;
        other_version[7] ^= 1;
        let mut unknown_kind = good;
        unknown_kind[8] = 9;
        let packets: [&[u8]; 6] = [
            &[0],
            &good[..len - 1],
            &good[..len + 1],
            &other_version[..len],
            &unknown_kind[..len],
            &[7; 500],
        ];
        for packet in packets {
            rustix::net::send(&socket, packet, SendFlags::empty()).expect("room");
            assert!(matches!(link.receive(), Received::Invalid(_)), "{packet:?}");
        }
        rustix::net::send(&socket, &good[..len], SendFlags::empty()).expect("room");
        assert!(matches!(link.receive(), Received::Invalid(_)), "a hello without descriptors");
    }

    #[test]
    fn a_full_socket_says_so_and_nothing_is_lost() {
        let (socket, link) = pair();
        let sender = Link::new(NodeId(0), socket);
        let file = file();
        let mut sent = 0;
        while sender.announce(sent, 1, file.as_fd()).is_ok() {
            sent += 1;
        }
        assert_eq!(sender.announce(sent, 1, file.as_fd()), Err(Errno::AGAIN));
        for expected in 0..sent {
            let Received::Message(Message::Arena { row, .. }) = link.receive() else {
                panic!("announcement {expected} is missing");
            };
            assert_eq!(row, expected);
        }
        assert!(matches!(link.receive(), Received::Nothing));
    }
}
