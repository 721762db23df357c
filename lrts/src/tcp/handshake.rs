//! Handshake: two nodes prove to each other that they belong to the job, before any frame.
//!
//! Noise `NNpsk0` with the job's key, over messages of a 16-bit length and at most [`MESSAGE_BYTES_MAX`]
//! bytes:
//!
//! 1. connector -> acceptor: `psk, e`. Can be replayed by anybody who saw it.
//! 2. acceptor -> connector: `e, ee`. Only a holder of the key can make it, and it binds fresh ephemerals.
//! 3. connector -> acceptor: its [`Hello`], encrypted. Only now does the acceptor believe it.
//! 4. acceptor -> connector: its own hello, encrypted, once it takes the connection. Frames follow.
//!
//! What protects the frames is part of the hellos ([`Terms`]); the keys for it are those of the handshake ([`Seals`]).

use super::noise;
use super::protection::{Agreed, Protection, Terms};
use super::seal::Seals;
use crate::aead::KEY_BYTES;
use crate::bootstrap::JobKey;
use crate::ids::NodeId;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use snow::{HandshakeState, TransportState};

/// Counts changes of handshake, header or emulated operations.
const PROTOCOL_VERSION: u32 = 3;

const NOISE: &str = "Noise_NNpsk0_25519_AESGCM_SHA256";

const PROLOGUE: &[u8] = b"chare tcp handshake";

/// The longest handshake message takes 48 bytes: an ephemeral key and a tag.
const MESSAGE_BYTES_MAX: usize = 128;

/// Why a connection is given up.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Failure {
    /// The connection ended before it was finished. A connector tries again.
    Ended(String),
    /// The other side is not who it should be. Trying again is useless.
    Stranger(String),
}

/// Use of a connection.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Line {
    /// Frames of the runtime.
    Frames,
    /// Nothing but its own end, which tells of the peer's.
    Keepalive,
}

/// First message of a connector: who speaks, to whom, and on which of their connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Hello {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) line: Line,
    pub(super) terms: Terms,
}

/// Bytes of an encoded hello.
const HELLO_BYTES: usize = 15;

impl Hello {
    fn encode(self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..4].copy_from_slice(&PROTOCOL_VERSION.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.from.0.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.to.0.to_le_bytes());
        let Terms { protection, is_near } = self.terms;
        bytes[12..].copy_from_slice(&[self.line as u8, protection as u8, u8::from(is_near)]);
        bytes
    }

    /// What a side that sees the connection so says to this.
    fn answer(self, terms: Terms) -> Self {
        Self { from: self.to, to: self.from, line: self.line, terms }
    }

    fn decode(bytes: &[u8]) -> Result<Self, Failure> {
        let (words, rest) = bytes.as_chunks::<4>();
        let words: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let uses = match rest {
            [line, protection, near @ (0 | 1)] => {
                let line = [Line::Frames, Line::Keepalive].into_iter().find(|known| *known as u8 == *line);
                let terms = |protection| Terms { protection, is_near: *near == 1 };
                line.zip(Protection::from_byte(*protection).map(terms))
            }
            _ => None,
        };
        match (words.as_slice(), uses) {
            ([PROTOCOL_VERSION, from, to], Some((line, terms))) => {
                Ok(Self { from: NodeId(*from), to: NodeId(*to), line, terms })
            }
            ([version, ..], _) if *version != PROTOCOL_VERSION => Err(Failure::Stranger(format!(
                "it speaks version {version} of the protocol, this node {PROTOCOL_VERSION}"
            ))),
            _ => Err(Failure::Stranger(format!("its hello of {} bytes is none", bytes.len()))),
        }
    }
}

pub(super) fn noise(key: &JobKey) -> snow::Builder<'_> {
    NOISE
        .parse()
        .map(noise::builder)
        .and_then(|builder| builder.psk(0, &key.0))
        .and_then(|builder| builder.prologue(PROLOGUE))
        .expect("the name of the handshake, the key's length and its place are constants")
}

/// Reads whole messages from a socket that may deliver them in pieces; never past a message's end,
/// because frames follow the last one.
struct Messages {
    buffer: [u8; 2 + MESSAGE_BYTES_MAX],
    have: usize,
}

impl Messages {
    fn new() -> Self {
        Self { buffer: [0; 2 + MESSAGE_BYTES_MAX], have: 0 }
    }

    /// The next message; `None` until it is complete.
    fn read(&mut self, socket: &OwnedFd) -> Result<Option<&[u8]>, Failure> {
        loop {
            let need = match self.have {
                0 | 1 => 2,
                _ => 2 + usize::from(u16::from_le_bytes([self.buffer[0], self.buffer[1]])),
            };
            if need > self.buffer.len() {
                return Err(Failure::Stranger("it does not speak our protocol".to_owned()));
            }
            if self.have == need {
                self.have = 0;
                return Ok(Some(&self.buffer[2..need]));
            }
            match rustix::net::recv(socket, &mut self.buffer[self.have..need], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return Err(Failure::Ended("it closed the connection".to_owned())),
                Ok((count, _)) => self.have += count,
                Err(Errno::AGAIN) => return Ok(None),
                Err(Errno::INTR) => {}
                Err(errno) => return Err(Failure::Ended(errno.to_string())),
            }
        }
    }
}

/// Writes one message. It fits the empty buffer of a fresh connection, or something is wrong.
fn write(socket: &OwnedFd, message: &[u8]) -> Result<(), Failure> {
    let mut bytes = (message.len() as u16).to_le_bytes().to_vec();
    bytes.extend_from_slice(message);
    match rustix::net::send(socket, &bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
        Ok(count) if count == bytes.len() => Ok(()),
        Ok(_) => Err(Failure::Ended("it takes no bytes".to_owned())),
        Err(errno) => Err(Failure::Ended(errno.to_string())),
    }
}

fn no_key(_: snow::Error) -> Failure {
    Failure::Stranger("it did not prove that it has the job's key".to_owned())
}

fn write_hello(socket: &OwnedFd, state: &mut TransportState, hello: Hello) -> Result<(), Failure> {
    let mut message = [0; MESSAGE_BYTES_MAX];
    let len = state.write_message(&hello.encode(), &mut message).map_err(no_key)?;
    write(socket, &message[..len])
}

fn read_hello(state: &mut TransportState, message: &[u8]) -> Result<Hello, Failure> {
    let mut payload = [0; MESSAGE_BYTES_MAX];
    let len = state.read_message(message, &mut payload).map_err(no_key)?;
    Hello::decode(&payload[..len])
}

/// A connection whose both sides have proved themselves, and what protects its frames.
pub(super) struct Secured {
    pub(super) seals: Seals,
    pub(super) agreed: Agreed,
}

/// Keys of a handshake that is over: of what the connector sends, and of what it receives.
type Keys = ([u8; KEY_BYTES], [u8; KEY_BYTES]);

fn finish(mut state: Box<HandshakeState>) -> Result<(Box<TransportState>, Keys), Failure> {
    let keys = state.dangerously_get_raw_split();
    state.into_transport_mode().map(|state| (Box::new(state), keys)).map_err(no_key)
}

enum ConnectorState {
    ReplyExpected(Box<HandshakeState>),
    WelcomeExpected(Box<TransportState>, Keys),
}

/// The side that connects.
pub(super) struct Connector {
    hello: Hello,
    messages: Messages,
    state: Option<ConnectorState>,
}

impl Connector {
    /// Sends the first message over a socket that is connected.
    pub(super) fn start(socket: &OwnedFd, key: &JobKey, hello: Hello) -> Result<Self, Failure> {
        let mut state = noise(key).build_initiator().expect("all parameters are there");
        let mut message = [0; MESSAGE_BYTES_MAX];
        let len = state.write_message(&[], &mut message).map_err(no_key)?;
        write(socket, &message[..len])?;
        let state = Some(ConnectorState::ReplyExpected(Box::new(state)));
        Ok(Self { hello, messages: Messages::new(), state })
    }

    /// Reads what has arrived; a secured connection once the peer is who it should be and has taken it.
    pub(super) fn advance(&mut self, socket: &OwnedFd) -> Result<Option<Secured>, Failure> {
        while let Some(message) = self.messages.read(socket)? {
            match self.state.take() {
                Some(ConnectorState::ReplyExpected(mut state)) => {
                    state.read_message(message, &mut [0; MESSAGE_BYTES_MAX]).map_err(no_key)?;
                    let (mut state, keys) = finish(state)?;
                    write_hello(socket, &mut state, self.hello)?;
                    self.state = Some(ConnectorState::WelcomeExpected(state, keys));
                }
                Some(ConnectorState::WelcomeExpected(mut state, (sent, received))) => {
                    let heard = read_hello(&mut state, message)?;
                    if heard != self.hello.answer(heard.terms) {
                        let Hello { from, to, .. } = heard;
                        return Err(Failure::Stranger(format!("it is {from} and expects {to}")));
                    }
                    let agreed = self.hello.terms.settle(heard.terms).map_err(Failure::Stranger)?;
                    return Ok(Some(Secured {
                        seals: Seals::new(agreed.protection, &sent, &received),
                        agreed,
                    }));
                }
                None => return Err(Failure::Ended("it went on after a failure".to_owned())),
            }
        }
        Ok(None)
    }
}

enum AcceptorState {
    FirstExpected,
    HelloExpected(Box<TransportState>, Keys),
}

/// The side that listens, for one connection.
pub(super) struct Acceptor {
    messages: Messages,
    state: Option<AcceptorState>,
}

/// A connection whose other side has proved itself; the acceptor may still decline it.
pub(super) struct Proved {
    /// What it said.
    pub(super) hello: Hello,
    state: Box<TransportState>,
    keys: Keys,
}

impl Acceptor {
    pub(super) fn new() -> Self {
        Self { messages: Messages::new(), state: Some(AcceptorState::FirstExpected) }
    }

    /// Whether a first message has come that was made with the key.
    pub(super) fn has_heard(&self) -> bool {
        matches!(self.state, Some(AcceptorState::HelloExpected(..)))
    }

    /// Reads what has arrived; a proved connection once the hello is there.
    pub(super) fn advance(&mut self, socket: &OwnedFd, key: &JobKey) -> Result<Option<Proved>, Failure> {
        while let Some(message) = self.messages.read(socket)? {
            match self.state.take() {
                Some(AcceptorState::FirstExpected) => {
                    let mut state = noise(key).build_responder().expect("all parameters are there");
                    state.read_message(message, &mut [0; MESSAGE_BYTES_MAX]).map_err(no_key)?;
                    let mut reply = [0; MESSAGE_BYTES_MAX];
                    let len = state.write_message(&[], &mut reply).map_err(no_key)?;
                    write(socket, &reply[..len])?;
                    let (state, keys) = finish(Box::new(state))?;
                    self.state = Some(AcceptorState::HelloExpected(state, keys));
                }
                Some(AcceptorState::HelloExpected(mut state, keys)) => {
                    let hello = read_hello(&mut state, message)?;
                    return Ok(Some(Proved { hello, state, keys }));
                }
                None => return Err(Failure::Ended("it went on after a failure".to_owned())),
            }
        }
        Ok(None)
    }
}

impl Proved {
    /// Tells the connector that its connection is taken, by a node that sees it so.
    pub(super) fn welcome(mut self, socket: &OwnedFd, terms: Terms) -> Result<Secured, Failure> {
        // Before they are compared: the other side says then what is wrong, too.
        write_hello(socket, &mut self.state, self.hello.answer(terms))?;
        let agreed = terms.settle(self.hello.terms).map_err(Failure::Stranger)?;
        let (received, sent) = self.keys;
        Ok(Secured { seals: Seals::new(agreed.protection, &sent, &received), agreed })
    }
}
