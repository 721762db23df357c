//! Control protocol: messages between a node and the process that started it.
//!
//! They share one private `SOCK_SEQPACKET` unix socket, which the node inherits. Rules:
//!
//! 1. One packet is one message, at most [`PACKET_BYTES_MAX`] bytes long; what is longer is never sent and not accepted.
//! 2. The node speaks first: `Hello`. The answer is `Welcome`, then one `Neighbour` for every other node of this
//!    host, each with one descriptor. No other message carries a descriptor.
//! 3. `Gather` and `Gathered` come in rounds counted from 0: a node sends its value of a round once and waits for
//!    all values of it, which arrive in as many `Gathered` as their length needs, in the order of the nodes.
//! 4. `Abort` may come at any time; the node ends. So it does at the end of the stream: nobody starts it then.
//! 5. `Failed` and `Lost` end the job. `Finished` is the last word of a node that ends as it should.

use crate::codec;
use crate::ids::NodeId;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;

/// The longest message in bytes: sixteen published values fit, and any socket buffer holds several.
pub const PACKET_BYTES_MAX: usize = 32 * 1024;

/// The longest value that a node publishes, in bytes (process managers that take our place allow no more).
pub const VALUE_BYTES_MAX: usize = 1024;

/// How many published values travel in one message.
pub const VALUES_PER_MESSAGE: usize = 16;

/// The longest text in a message, in bytes; longer ones are cut.
pub const TEXT_BYTES_MAX: usize = 8 * 1024;

/// Says which messages a build understands; changes with every change of this file's types.
pub const PROTOCOL: u32 = 2;

/// From a node to the process that started it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum FromNode {
    /// The node runs and asks for its place.
    Hello {
        /// The sender's [`PROTOCOL`].
        protocol: u32,
    },
    /// The node's value in a round of the exchange.
    Gather {
        /// Which round.
        round: u64,
        /// At most [`VALUE_BYTES_MAX`] bytes.
        value: Vec<u8>,
    },
    /// The node cannot go on, through its own fault.
    Failed {
        /// A sentence for the user.
        message: String,
    },
    /// The node noticed that another one is gone.
    Lost {
        /// The node that is gone.
        peer: NodeId,
        /// What the node saw.
        message: String,
    },
    /// The node did all its work and ends.
    Finished {
        /// What the process will exit with.
        code: u8,
    },
}

/// To a node from the process that started it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum ToNode {
    /// The node's place in the job.
    Welcome(Welcome),
    /// A connected `SOCK_SEQPACKET` socket to another node of this host comes with this message.
    Neighbour(NodeId),
    /// Values that the nodes published in a round.
    Gathered {
        /// Which round.
        round: u64,
        /// The node whose value is the first one here.
        first: u32,
        /// At most [`VALUES_PER_MESSAGE`].
        values: Vec<Vec<u8>>,
    },
    /// The job is over; end.
    Abort {
        /// Why.
        message: String,
    },
}

/// A node's place in the job.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Welcome {
    /// Which node it is.
    pub node: NodeId,
    /// How many the job has.
    pub nodes: u32,
    /// The job's secret.
    pub key: [u8; 32],
    /// How many `Neighbour` messages follow.
    pub neighbours: u32,
    /// How long the launcher lets nodes wait for each other at start-up, in milliseconds.
    pub patience_ms: u64,
}

/// Sends one message, with a descriptor where the message stands for one. One system call.
///
/// # Errors
/// The kernel's; `WouldBlock` on a non-blocking socket without room; invalid input for a message that is too long.
pub fn send<T: Serialize>(socket: impl AsFd, message: &T, descriptor: Option<&OwnedFd>) -> io::Result<()> {
    let mut packet = Vec::new();
    codec::encode_into(message, &mut packet)
        .map_err(|cause| io::Error::new(io::ErrorKind::InvalidInput, cause.to_string()))?;
    if packet.len() > PACKET_BYTES_MAX {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("a control message of {} bytes exceeds {PACKET_BYTES_MAX}", packet.len()),
        ));
    }
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = descriptor.map(AsFd::as_fd);
    if descriptors.is_some() {
        ancillary.push(SendAncillaryMessage::ScmRights(descriptors.as_slice()));
    }
    loop {
        match rustix::net::sendmsg(&socket, &[IoSlice::new(&packet)], &mut ancillary, SendFlags::NOSIGNAL) {
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(cause) => return Err(cause.into()),
        }
    }
}

/// Receives one message and the descriptor that came with it; `None` at the end of the stream.
///
/// # Errors
/// The kernel's; `WouldBlock` on a non-blocking socket without a message; invalid data for bytes that are no message.
pub fn receive<T: DeserializeOwned>(socket: impl AsFd) -> io::Result<Option<(T, Option<OwnedFd>)>> {
    let mut packet = vec![0; PACKET_BYTES_MAX];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let into = &mut [IoSliceMut::new(&mut packet)];
        match rustix::net::recvmsg(&socket, into, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(Errno::CONNRESET) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        }
    };
    let descriptor = ancillary.drain().find_map(|message| match message {
        RecvAncillaryMessage::ScmRights(mut descriptors) => descriptors.next(),
        _ => None,
    });
    if received.bytes == 0 {
        return Ok(None);
    }
    if received.flags.contains(ReturnFlags::TRUNC) {
        return Err(invalid(format!("a control message exceeds {PACKET_BYTES_MAX} bytes")));
    }
    if received.flags.contains(ReturnFlags::CTRUNC) {
        return Err(io::Error::other("no free descriptor for a socket to a neighbour; raise `ulimit -n`"));
    }
    let message = codec::decode(&packet[..received.bytes])
        .map_err(|cause| invalid(format!("a control message does not decode: {cause}")))?;
    Ok(Some((message, descriptor)))
}

/// Cuts a text to what fits in a message.
pub fn shorten(mut text: String) -> String {
    if text.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        text.truncate(end);
    }
    text
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};

    fn pair() -> (OwnedFd, OwnedFd) {
        socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap()
    }

    #[test]
    fn a_message_and_its_descriptor_arrive_together() {
        let (here, there) = pair();
        let (passed, kept) = pair();
        send(&here, &ToNode::Neighbour(NodeId(7)), Some(&passed)).unwrap();
        drop(passed);
        let (message, descriptor) = receive::<ToNode>(&there).unwrap().unwrap();
        assert_eq!(message, ToNode::Neighbour(NodeId(7)));
        rustix::net::send(&kept, b"through", SendFlags::empty()).unwrap();
        let mut bytes = [0; 16];
        let (_, length) = rustix::net::recv(descriptor.unwrap(), &mut bytes, RecvFlags::empty()).unwrap();
        assert_eq!(&bytes[..length], b"through");
    }

    #[test]
    fn the_end_of_the_stream_is_no_message() {
        let (here, there) = pair();
        drop(here);
        assert!(receive::<ToNode>(&there).unwrap().is_none());
    }

    #[test]
    fn a_full_message_of_values_fits_and_one_byte_more_than_a_packet_does_not() {
        let (here, there) = pair();
        let values = vec![vec![9; VALUE_BYTES_MAX]; VALUES_PER_MESSAGE];
        let full = ToNode::Gathered { round: 3, first: 16, values };
        send(&here, &full, None).unwrap();
        assert_eq!(receive::<ToNode>(&there).unwrap().unwrap().0, full);
        let mut empty = Vec::new();
        codec::encode_into(&FromNode::Failed { message: String::new() }, &mut empty).unwrap();
        let overhead = empty.len();
        let of = |bytes| FromNode::Failed { message: "x".repeat(bytes) };
        send(&here, &of(PACKET_BYTES_MAX - overhead), None).unwrap();
        assert!(send(&here, &of(PACKET_BYTES_MAX - overhead + 1), None).is_err());
    }

    #[test]
    fn bytes_that_are_no_message_are_an_error() {
        let hostile: [&[u8]; 4] =
            [&[99, 0, 0, 0], &[0], &[3, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 127], &[1; 64]];
        for bytes in hostile {
            let (here, there) = pair();
            rustix::net::send(&here, bytes, SendFlags::empty()).unwrap();
            let error = receive::<ToNode>(&there).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{bytes:?}: {error}");
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(shorten("short".into()), "short");
        let cut = shorten(format!("{}€", "x".repeat(TEXT_BYTES_MAX - 1)));
        assert_eq!(cut.len(), TEXT_BYTES_MAX - 1);
    }
}
