//! Keepalive connections: notice a dead peer within [`SILENCE_MAX`], by one authenticated TCP connection to each that carries no frames.
//!
//! Networks differ in what they tell of a peer that dies: some report it with the next operation, some never. The
//! kernel closes a dead process's sockets, and keepalive finds vanished hosts in that time.
//!
//! It is not the connection for frames of [`Tcp`](super::Tcp), either: there a node that does not read, because one of its entries
//! runs, cannot be told from a vanished one. Here nothing has to be read: the kernel answers, however busy its host is.
//!
//! A node on a network of another backend writes [`HEARD`] when it has heard the peer's goodbye, and [`GOODBYE`] in place of its own, if
//! it never sent anything to the peer: then no connection is made for it. Nothing else is ever written.

#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi", feature = "sim"))]
pub(crate) mod standalone;

use super::mesh::Connected;
use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::RecvFlags;
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

const HEARD: u8 = b'.';

const GOODBYE: u8 = b'!';

/// How long a host may leave keepalive unanswered: six questions.
pub(super) const SILENCE_MAX: Duration = Duration::from_secs(10);

/// Connections looked at in one go; the kernel rotates those that remain.
const EVENTS: usize = 16;

/// Signs of a peer: two words, and its end.
const SIGNS: usize = 3;

/// Sign of a peer's life or death.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum Sign {
    /// It says goodbye, and never sent anything.
    Goodbye,
    /// It has heard our goodbye.
    Heard,
    /// Its process has ended.
    Ended,
    /// The connection broke, for this reason.
    Broken(String),
}

/// The keepalive connections of one node.
pub(crate) struct Keepalives {
    epoll: OwnedFd,
    open: BTreeMap<NodeId, OwnedFd>,
}

impl Keepalives {
    /// Watches connections that were made for it.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn watch(backend: &'static str, connected: Connected) -> Result<Self, LrtsError> {
        let sockets = connected.into_iter().map(|((_, peer), connection)| (peer, connection.socket));
        Self::watch_sockets(backend, sockets.collect())
    }

    /// Watches connections to peers.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn watch_sockets(
        backend: &'static str,
        open: BTreeMap<NodeId, OwnedFd>,
    ) -> Result<Self, LrtsError> {
        let system = |errno: Errno| LrtsError::System {
            operation: "watching the connections to peers",
            backend,
            source: Arc::new(errno.into()),
            hint: "; raise the limit of open files (`ulimit -n`)",
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        for (peer, socket) in &open {
            rustix::net::sockopt::set_tcp_user_timeout(socket, SILENCE_MAX.as_millis() as u32)
                .map_err(system)?;
            let data = EventData::new_u64(u64::from(peer.0));
            epoll::add(&epoll, socket, data, EventFlags::IN).map_err(system)?;
        }
        Ok(Self { epoll, open })
    }

    /// Readable when something ended.
    pub(crate) fn event_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// The signs since the last check. One system call when there are none.
    pub(crate) fn check(&mut self) -> Vec<(NodeId, Sign)> {
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interrupted call is repeated by the next one.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, Some(&now)) else { return Vec::new() };
        let peers = events.iter().map(|event| NodeId({ event.data }.u64() as u32));
        let mut heard = Vec::new();
        for peer in peers {
            // Further words of a peer are there the next time.
            for _ in 0..SIGNS {
                let Some(sign) = self.open.get(&peer).and_then(read) else { break };
                if let Sign::Ended | Sign::Broken(_) = sign {
                    self.open.remove(&peer);
                }
                heard.push((peer, sign));
            }
        }
        heard
    }
}

/// The next sign on a connection, if there is one.
fn read(socket: &OwnedFd) -> Option<Sign> {
    let mut byte = [0];
    loop {
        return match rustix::net::recv(socket, &mut byte, RecvFlags::DONTWAIT) {
            Ok((0, _)) => Some(Sign::Ended),
            Ok(_) => Some(match byte {
                [HEARD] => Sign::Heard,
                [GOODBYE] => Sign::Goodbye,
                _ => Sign::Broken("it wrote nonsense on the connection that shows its life".to_owned()),
            }),
            Err(Errno::AGAIN) => None,
            Err(Errno::INTR) => continue,
            Err(Errno::TIMEDOUT) => {
                Some(Sign::Broken(format!("its host has not answered for {SILENCE_MAX:?}")))
            }
            Err(errno) => Some(Sign::Broken(errno.to_string())),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn what_a_peer_writes_on_and_on_is_heard_bit_by_bit() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let mut peer = TcpStream::connect(listener.local_addr().expect("it listens")).expect("it listens");
        let (socket, _) = listener.accept().expect("it has connected");
        let open = [(NodeId(1), socket.into())].into();
        let mut keepalives = Keepalives::watch_sockets("test", open).expect("a descriptor");
        peer.write_all(&[HEARD; 100]).expect("the connection takes it");
        drop(peer);
        let mut signs = Vec::new();
        while !matches!(signs.last(), Some((_, Sign::Ended))) {
            let heard = keepalives.check();
            assert!(heard.len() <= SIGNS, "{} at a time", heard.len());
            signs.extend(heard);
        }
        assert_eq!(signs.len(), 101, "nothing is lost");
    }
}
