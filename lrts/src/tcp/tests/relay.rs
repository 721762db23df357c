//! Relay: a program between two nodes, which passes on what they say and does one deed.

#![expect(clippy::disallowed_methods, reason = "stands between two nodes, on threads of the machine's")]

use crate::bootstrap::local::Local;
use crate::bootstrap::{Bootstrap, Membership};
use crate::error::LrtsError;
use crate::ids::NodeId;
use crate::tcp::header::HEADER_BYTES;
use crate::tcp::seal::lead_bytes;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};

/// What each side says before frames, each message behind its length.
const HANDSHAKE_MESSAGES: usize = 2;

/// What is done to one frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// This bit of it changes, counted over its end again.
    Flip(usize),
    /// It comes twice.
    Repeat,
    /// It does not come.
    Drop,
    /// The next one comes first.
    Swap,
    /// An earlier one comes in its place.
    Recall,
    /// These bytes come before it.
    Inject(Vec<u8>),
    /// Only these many of its bytes come, and then the end.
    Cut(usize),
}

/// A deed, the frame that it is done to, and the node that the frame is for.
#[derive(Clone, Debug)]
pub(super) struct Attack {
    pub(super) deed: Deed,
    pub(super) frame: usize,
    pub(super) victim: NodeId,
}

/// A node's bootstrap that leads it to a relay instead of node 0.
pub(super) struct Detour {
    pub(super) local: Local,
    pub(super) attack: Attack,
}

impl Bootstrap for Detour {
    fn membership(&self) -> &Membership {
        self.local.membership()
    }

    fn membership_mut(&mut self) -> &mut Membership {
        self.local.membership_mut()
    }

    fn all_gather(&mut self, value: Vec<u8>) -> Result<Vec<Vec<u8>>, LrtsError> {
        let mut addresses = self.local.all_gather(value)?;
        if self.node() == NodeId(1) {
            let to = std::str::from_utf8(&addresses[0]).ok().and_then(|text| text.parse().ok());
            addresses[0] = relay(to.expect("node 0 listens"), self.attack.clone()).to_string().into_bytes();
        }
        Ok(addresses)
    }
}

/// Starts a relay, whose threads end with the connections; returns its address.
fn relay(to: SocketAddr, attack: Attack) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        // One for frames, one that shows life.
        for connector in listener.incoming().take(2) {
            let (connector, acceptor) =
                (connector.expect("somebody"), TcpStream::connect(to).expect("node 0"));
            for (from, to, reader) in [(&connector, &acceptor, NodeId(0)), (&acceptor, &connector, NodeId(1))]
            {
                let (mut from, mut to) = (from.try_clone().expect("room"), to.try_clone().expect("room"));
                let attack = Some(attack.clone()).filter(|attack| attack.victim == reader);
                std::thread::spawn(move || {
                    // It ends with either connection, in which way ever.
                    let _ = pass_on(&mut from, &mut to, attack);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    address
}

/// Reads `count` bytes more; `None` at the end.
fn read(from: &mut TcpStream, bytes: &mut Vec<u8>, count: usize) -> std::io::Result<Option<()>> {
    let have = bytes.len();
    bytes.resize(have + count, 0);
    match from.read_exact(&mut bytes[have..]) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn read_frame(from: &mut TcpStream) -> std::io::Result<Option<Vec<u8>>> {
    let mut frame = Vec::new();
    let Some(()) = read(from, &mut frame, HEADER_BYTES)? else { return Ok(None) };
    let len = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
    Ok(read(from, &mut frame, lead_bytes(len) - HEADER_BYTES + len)?.map(|()| frame))
}

fn pass_on(from: &mut TcpStream, to: &mut TcpStream, attack: Option<Attack>) -> std::io::Result<()> {
    for _ in 0..HANDSHAKE_MESSAGES {
        let mut message = Vec::new();
        read(from, &mut message, 2)?;
        let len = u16::from_le_bytes([message[0], message[1]]);
        read(from, &mut message, len.into())?;
        to.write_all(&message)?;
    }
    let (mut first, mut held) = (Vec::new(), Vec::new());
    let mut index = 0;
    while let Some(mut frame) = read_frame(from)? {
        let struck = attack.as_ref().filter(|attack| attack.frame == index).map(|attack| &attack.deed);
        if index == 0 {
            first = frame.clone();
        }
        match struck {
            None => {}
            Some(Deed::Flip(bit)) => {
                let bit = bit % (8 * frame.len());
                frame[bit / 8] ^= 1 << (bit % 8);
            }
            Some(Deed::Repeat) => frame = frame.repeat(2),
            Some(Deed::Drop) => frame.clear(),
            Some(Deed::Swap) => held = std::mem::take(&mut frame),
            Some(Deed::Recall) => frame.clone_from(&first),
            Some(Deed::Inject(bytes)) => frame = [bytes, &frame[..]].concat(),
            Some(Deed::Cut(len)) => {
                to.write_all(&frame[..len % frame.len()])?;
                return to.shutdown(Shutdown::Both);
            }
        }
        to.write_all(&frame)?;
        if struck.is_none() {
            to.write_all(&std::mem::take(&mut held))?;
        }
        index += 1;
    }
    Ok(())
}
