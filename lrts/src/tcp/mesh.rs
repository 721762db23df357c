//! Mesh: makes, at start-up, one authenticated connection to each peer for each use, or an error that names who is missing.
//!
//! 1. Each pair has one connection for each [`Line`]: the node with the higher number connects to the one with the lower.
//! 2. A node listens only if somebody will connect to it, on the one address that peers use, on a port that the
//!    kernel or the user chooses; the port is published by the bootstrap. The listener is closed once all are there.
//! 3. Connections that are not proved yet are bounded, see [`half_open`]; strangers who hold connections open push each other out.
//! 4. A connector whose connection ends tries again until the deadline, since rule 3 may have hit it.
//! 5. A second connection of a peer for the same use, or one of a node that is not expected, is dropped.
//! 6. A step costs what the sockets with news cost: all nodes of a host begin at the same time.
//! 7. A peer that was started with other options of protection ends the start, on both sides.

#![expect(clippy::disallowed_methods, reason = "processes meet in real time")]

use super::half_open::{self, Due, HalfOpen};
use super::handshake::{Connector, Failure, Hello, Line, Secured};
use super::protection::{TcpOptions, Terms};
use super::sockets::{BACKEND, is_ready, listen, start_connecting, stays_on_host, system, tune};
use crate::bootstrap::{Bootstrap, JobKey};
use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{SocketFlags, sockopt};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};

/// Between two attempts to connect to the same peer.
const RETRY_AFTER: Duration = Duration::from_millis(20);

/// A connection that is ready for its use.
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    pub(super) secured: Secured,
}

/// The connections of a node.
pub(super) type Connected = BTreeMap<(Line, NodeId), Connection>;

enum Attempt {
    Retry { at: Instant, cause: String },
    Connecting(OwnedFd),
    Proving(OwnedFd, Box<Connector>),
    Connected(Box<Connection>),
}

struct Outgoing {
    address: SocketAddr,
    attempt: Attempt,
    /// Whether the socket can go on.
    is_ready: bool,
}

impl Outgoing {
    fn new(address: SocketAddr, attempt: Attempt) -> Self {
        Self { address, attempt, is_ready: false }
    }

    /// Whether there is something to do for it.
    fn can_go_on(&self, now: Instant) -> bool {
        match self.attempt {
            Attempt::Retry { at, .. } => now >= at,
            _ => self.is_ready,
        }
    }

    /// The socket, and what it waits for.
    fn awaits(&self) -> Option<(&OwnedFd, PollFlags)> {
        match &self.attempt {
            Attempt::Connecting(socket) => Some((socket, PollFlags::OUT)),
            Attempt::Proving(socket, _) => Some((socket, PollFlags::IN)),
            Attempt::Retry { .. } | Attempt::Connected(_) => None,
        }
    }
}

/// The connections of one node while they are made.
struct Mesh {
    node: NodeId,
    key: JobKey,
    options: TcpOptions,
    listener: Option<TcpListener>,
    /// By node: where it listens, if it does.
    homes: Vec<Option<SocketAddr>>,
    expected: BTreeSet<(Line, NodeId)>,
    half_open: VecDeque<HalfOpen>,
    outgoing: BTreeMap<(Line, NodeId), Outgoing>,
    connected: Connected,
    /// Connections dropped because they did not prove themselves; told if the deadline passes.
    strangers: usize,
    /// Why the last connection could not be taken, if this process was at its limit.
    crowded: Option<Errno>,
}

/// Connects this node to `peers`, for each of `lines`, within `patience` after all nodes have published their addresses.
/// Collective: every node of the job calls it, with peers that agree with the others' and the same lines.
///
/// # Errors
/// Who could not be reached and why.
pub(super) fn connect_all(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    lines: &[Line],
    options: &TcpOptions,
    patience: Duration,
) -> Result<Connected, LrtsError> {
    let node = bootstrap.node();
    let to = |peer: NodeId| lines.iter().map(move |line| (*line, peer));
    let expected: BTreeSet<_> = peers.iter().copied().filter(|peer| *peer > node).flat_map(to).collect();
    let listener = match expected.is_empty() {
        true => None,
        false => Some(listen(bootstrap.host_address(), bootstrap.ports())?),
    };
    let published = match &listener {
        None => String::new(),
        Some(listener) => listener
            .local_addr()
            .map_err(|source| system("reading the address of the listening socket", source, ""))?
            .to_string(),
    };
    let addresses = bootstrap.all_gather(published.into_bytes())?;
    let parse = |bytes: &Vec<u8>| std::str::from_utf8(bytes).ok()?.parse().ok();
    let homes: Vec<Option<SocketAddr>> = addresses.iter().map(parse).collect();
    let mut outgoing = BTreeMap::new();
    for peer in peers.iter().copied().filter(|peer| *peer < node) {
        let address = homes.get(peer.index()).copied().flatten();
        let address = address.ok_or_else(|| connect_error(peer, "it published no address".to_owned()))?;
        let begin = || Outgoing::new(address, Attempt::Retry { at: Instant::now(), cause: String::new() });
        outgoing.extend(to(peer).map(|one| (one, begin())));
    }
    let mesh = Mesh {
        node,
        key: bootstrap.key().clone(),
        options: options.clone(),
        listener,
        homes,
        expected,
        half_open: VecDeque::new(),
        outgoing,
        connected: BTreeMap::new(),
        strangers: 0,
        crowded: None,
    };
    let connected = mesh.complete(Instant::now() + patience)?;
    connected
        .values()
        .try_for_each(|connection| tune(&connection.socket))
        .map_err(|errno| system("setting the options of a connection", errno.into(), ""))?;
    Ok(connected)
}

/// How many of the expected connections are to come from each address, as far as that is known.
fn due(expected: &BTreeSet<(Line, NodeId)>, homes: &[Option<SocketAddr>]) -> Due {
    let mut due = Due::new();
    for home in expected.iter().filter_map(|(_, peer)| homes.get(peer.index()).copied().flatten()) {
        *due.entry(canonical(home)).or_default() += 1;
    }
    due
}

/// An address, whichever version of the protocol tells it.
fn canonical(address: SocketAddr) -> IpAddr {
    address.ip().to_canonical()
}

fn connect_error(peer: NodeId, cause: String) -> LrtsError {
    LrtsError::Connect { peer, backend: BACKEND, cause }
}

impl Mesh {
    fn complete(mut self, deadline: Instant) -> Result<Connected, LrtsError> {
        loop {
            self.accept();
            self.advance_half_open()?;
            self.advance_outgoing()?;
            if self.expected.is_empty() && self.outgoing.is_empty() {
                return Ok(self.connected);
            }
            let now = Instant::now();
            if now >= deadline {
                return Err(self.missing());
            }
            self.sleep(deadline, now)?;
        }
    }

    /// Takes waiting connections, as many at once as there is room for, so that each is read before it may have to make room; unproved ones
    /// make room.
    fn accept(&mut self) {
        let Some(listener) = &self.listener else { return };
        self.crowded = None;
        for _ in 0..half_open::room(self.expected.len()) {
            match rustix::net::acceptfrom_with(listener, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK) {
                Ok((socket, from)) => {
                    self.crowded = None;
                    if self.half_open.len() >= half_open::room(self.expected.len()) {
                        half_open::make_room(&mut self.half_open, &due(&self.expected, &self.homes));
                        self.strangers += 1;
                    }
                    let address = from.and_then(|from| SocketAddr::try_from(from).ok()).map(canonical);
                    self.half_open.push_back(HalfOpen::new(socket, address));
                }
                // No descriptors, which the kernel says also when no connection waits: strangers give theirs back.
                Err(errno @ (Errno::MFILE | Errno::NFILE)) if is_ready(listener, PollFlags::IN) => {
                    self.crowded = Some(errno);
                    if !half_open::make_room(&mut self.half_open, &due(&self.expected, &self.homes)) {
                        return;
                    }
                    self.strangers += 1;
                }
                // Other errors concern one connection, or say that none waits.
                Err(_) => return,
            }
        }
    }

    fn advance_half_open(&mut self) -> Result<(), LrtsError> {
        for _ in 0..self.half_open.len() {
            let Some(mut one) = self.half_open.pop_front() else { break };
            let advanced = if one.is_ready { one.advance(&self.key) } else { Ok(None) };
            match advanced {
                Ok(None) => self.half_open.push_back(one),
                Err(_) => self.strangers += 1,
                Ok(Some(proved)) => {
                    let Hello { from, to, line, .. } = proved.hello;
                    if to != self.node || !self.expected.contains(&(line, from)) {
                        self.strangers += 1;
                        continue;
                    }
                    match proved.welcome(&one.socket, self.terms(&one.socket)) {
                        Ok(secured) => {
                            self.expected.remove(&(line, from));
                            self.connected.insert((line, from), Connection { socket: one.socket, secured });
                        }
                        Err(Failure::Ended(_)) => self.strangers += 1,
                        Err(Failure::Stranger(cause)) => return Err(connect_error(from, cause)),
                    }
                }
            }
        }
        Ok(())
    }

    /// This node's view of a connection.
    fn terms(&self, socket: &OwnedFd) -> Terms {
        // A socket without addresses has no peer: the handshake finds it out.
        let is_near = !self.options.nolocal && stays_on_host(socket).unwrap_or(false);
        Terms { protection: self.options.protection, is_near }
    }

    fn advance_outgoing(&mut self) -> Result<(), LrtsError> {
        let now = Instant::now();
        let with_news: Vec<_> =
            self.outgoing.iter().filter(|(_, one)| one.can_go_on(now)).map(|(one, _)| *one).collect();
        for (line, peer) in with_news {
            let Some(Outgoing { address, attempt, .. }) = self.outgoing.remove(&(line, peer)) else {
                continue;
            };
            let attempt = match self.advance_one((line, peer), attempt, &address) {
                Ok(Attempt::Connected(connection)) => {
                    self.connected.insert((line, peer), *connection);
                    continue;
                }
                Ok(attempt) => attempt,
                Err(Failure::Ended(cause)) => Attempt::Retry { at: Instant::now() + RETRY_AFTER, cause },
                Err(Failure::Stranger(cause)) => return Err(connect_error(peer, cause)),
            };
            self.outgoing.insert((line, peer), Outgoing::new(address, attempt));
        }
        Ok(())
    }

    /// One step of an attempt that can go on.
    fn advance_one(
        &self,
        (line, to): (Line, NodeId),
        attempt: Attempt,
        address: &SocketAddr,
    ) -> Result<Attempt, Failure> {
        let ended = |errno: Errno| Failure::Ended(errno.to_string());
        match attempt {
            Attempt::Retry { .. } => start_connecting(address).map(Attempt::Connecting).map_err(ended),
            Attempt::Connecting(socket) => {
                sockopt::socket_error(&socket).and_then(|result| result).map_err(ended)?;
                let hello = Hello { from: self.node, to, line, terms: self.terms(&socket) };
                let connector = Connector::start(&socket, &self.key, hello)?;
                Ok(Attempt::Proving(socket, Box::new(connector)))
            }
            Attempt::Proving(socket, mut connector) => Ok(match connector.advance(&socket)? {
                Some(secured) => Attempt::Connected(Box::new(Connection { socket, secured })),
                None => Attempt::Proving(socket, connector),
            }),
            connected @ Attempt::Connected(_) => Ok(connected),
        }
    }

    /// Sleeps until a socket has something to say or a time runs out, and notes which sockets have.
    fn sleep(&mut self, deadline: Instant, now: Instant) -> Result<(), LrtsError> {
        let mut until = deadline;
        // The listener comes last, so that all else has a place of its own.
        let half_open = self.half_open.iter().map(|one| PollFd::new(&one.socket, PollFlags::IN));
        let outgoing = self.outgoing.values().filter_map(Outgoing::awaits);
        let outgoing = outgoing.map(|(socket, flags)| PollFd::new(socket, flags));
        let mut sockets: Vec<PollFd<'_>> = half_open.chain(outgoing).collect();
        match self.crowded {
            None => sockets.extend(self.listener.iter().map(|listener| PollFd::new(listener, PollFlags::IN))),
            // A connection that waits there makes the listener readable all the time.
            Some(_) => until = until.min(now + RETRY_AFTER),
        }
        for one in self.outgoing.values() {
            if let Attempt::Retry { at, .. } = one.attempt {
                until = until.min(at);
            }
        }
        let nap = until.saturating_duration_since(now).max(Duration::from_millis(1));
        let nap = Timespec::try_from(nap).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
        match rustix::event::poll(&mut sockets, Some(&nap)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(system("waiting for peers", errno.into(), "")),
        }
        let mut ready: VecDeque<bool> = sockets.iter().map(|socket| !socket.revents().is_empty()).collect();
        let mut next = || ready.pop_front().unwrap_or_default();
        self.half_open.iter_mut().for_each(|one| one.is_ready = next());
        let waiting = self.outgoing.values_mut().filter(|one| one.awaits().is_some());
        waiting.for_each(|one| one.is_ready = next());
        Ok(())
    }

    /// Names who is not connected.
    fn missing(self) -> LrtsError {
        let strangers = match self.strangers {
            0 => String::new(),
            count => {
                format!("; {count} connections were dropped because they did not prove that they belong")
            }
        };
        let (peer, cause) = match (self.outgoing.into_iter().next(), self.expected.first()) {
            (Some(((_, peer), Outgoing { address, attempt, .. })), _) => {
                let last = match attempt {
                    Attempt::Retry { cause, .. } => cause,
                    Attempt::Connecting(_) => "nobody answers".to_owned(),
                    Attempt::Proving(..) | Attempt::Connected(_) => {
                        "it does not finish the handshake".to_owned()
                    }
                };
                (peer, format!("no connection to {address} in time, lately: {last}"))
            }
            (None, Some((_, peer))) => match self.crowded {
                Some(errno) => {
                    return connect_error(
                        *peer,
                        format!(
                            "its connection cannot be taken: {errno}; raise the limit of open files (`ulimit -n`)"
                        ),
                    );
                }
                None => (*peer, "it did not connect in time".to_owned()),
            },
            (None, None) => unreachable!("the mesh is complete when nobody is missing"),
        };
        connect_error(peer, format!("{cause}{strangers}; check that all nodes have the same job key"))
    }
}
