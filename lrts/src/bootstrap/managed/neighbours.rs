//! Meeting of neighbours: connects nodes of one host that have no common parent to hand them connected sockets.
//!
//! 1. Each node opens a [`Door`]: a listening socket with a random name in the kernel's own name space, where nothing is left
//!    behind, and a random token. It publishes both.
//! 2. A node knocks at the door of every neighbour with a larger number, and says the token of that door, its own
//!    number and its own token.
//! 3. A process that comes in must be of the same user, know the door's token and name its own; others are turned away.

#![expect(clippy::disallowed_methods, reason = "processes meet in real time, by names that nobody guesses")]

use crate::bootstrap::wait::wait_readable;
use crate::ids::NodeId;
use nix::sys::socket::getsockopt;
use nix::sys::socket::sockopt::PeerCredentials;
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    listen, recv, send, socket_with,
};
use serde::{Deserialize, Serialize};
use std::io;
use std::time::{Duration, Instant};

/// How long a visitor may take to say its words: it sends them before it waits for anything.
const KNOCK_PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of a token.
const TOKEN_BYTES: usize = 16;

/// What visitors say: two tokens and a number.
const WORDS_BYTES: usize = 2 * TOKEN_BYTES + size_of::<u32>();

/// Where a node's door is and what opens it.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Meeting {
    name: [u8; TOKEN_BYTES],
    token: [u8; TOKEN_BYTES],
}

impl Meeting {
    fn address(&self) -> io::Result<SocketAddrUnix> {
        let name: String = self.name.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(SocketAddrUnix::new_abstract_name(format!("chare-{name}").as_bytes())?)
    }
}

/// A node's open door.
pub(super) struct Door {
    meeting: Meeting,
    listener: OwnedFd,
}

impl Door {
    /// Opens it, under a name nobody can guess.
    pub(super) fn open() -> io::Result<Self> {
        let meeting = Meeting { name: rand::random(), token: rand::random() };
        let listener = seqpacket(SocketFlags::NONBLOCK)?;
        bind(&listener, &meeting.address()?)?;
        listen(&listener, i32::from(u16::MAX))?;
        Ok(Self { meeting, listener })
    }

    pub(super) fn meeting(&self) -> Meeting {
        self.meeting
    }

    /// Connects node `own` with all others among `meetings`, its own included; every node of the host does the same.
    ///
    /// # Errors
    /// Who could not be met, and why.
    pub(super) fn meet(
        self,
        own: NodeId,
        meetings: &[(NodeId, Meeting)],
        deadline: Instant,
    ) -> Result<Vec<(NodeId, OwnedFd)>, (NodeId, io::Error)> {
        let mut met = Vec::with_capacity(meetings.len().saturating_sub(1));
        for (peer, meeting) in meetings.iter().filter(|(peer, _)| *peer > own) {
            met.push((*peer, self.knock(own, meeting).map_err(|cause| (*peer, cause))?));
        }
        let mut expected: Vec<_> = meetings.iter().filter(|(peer, _)| *peer < own).collect();
        while let Some((missing, _)) = expected.first() {
            let visitor = self.let_in(deadline).map_err(|cause| (*missing, cause))?;
            let known = visitor.and_then(|(socket, node, token)| {
                let position =
                    expected.iter().position(|(peer, theirs)| *peer == node && theirs.token == token)?;
                Some((expected.swap_remove(position).0, socket))
            });
            met.extend(known);
        }
        met.sort_by_key(|(peer, _)| *peer);
        Ok(met)
    }

    fn knock(&self, own: NodeId, theirs: &Meeting) -> io::Result<OwnedFd> {
        // Blocking until it is connected: the other side listens already.
        let socket = seqpacket(SocketFlags::empty())?;
        connect(&socket, &theirs.address()?)?;
        let words = [&theirs.token[..], &own.0.to_le_bytes(), &self.meeting.token].concat();
        send(&socket, &words, SendFlags::NOSIGNAL)?;
        rustix::io::ioctl_fionbio(&socket, true)?;
        Ok(socket)
    }

    /// The next visitor; `None` if it was turned away.
    fn let_in(&self, deadline: Instant) -> io::Result<Option<(OwnedFd, NodeId, [u8; TOKEN_BYTES])>> {
        wait_readable(&self.listener, deadline)?;
        let visitor = match accept_with(&self.listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
            Ok(visitor) => visitor,
            Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(None),
            Err(cause) => return Err(cause.into()),
        };
        // The number of a process in another namespace is 0 here, which rustix takes for no answer.
        let is_same_user = getsockopt(&visitor, PeerCredentials)
            .is_ok_and(|credentials| credentials.uid() == rustix::process::geteuid().as_raw());
        if !is_same_user || wait_readable(&visitor, deadline.min(Instant::now() + KNOCK_PATIENCE)).is_err() {
            return Ok(None);
        }
        let mut words = [0; WORDS_BYTES + 1];
        let Ok((_, WORDS_BYTES)) = recv(&visitor, &mut words[..], RecvFlags::empty()) else {
            return Ok(None);
        };
        let (to_us, rest) = words[..WORDS_BYTES].split_at(TOKEN_BYTES);
        let (number, from) = rest.split_at(size_of::<u32>());
        if to_us != self.meeting.token {
            return Ok(None);
        }
        let node = NodeId(u32::from_le_bytes(number.try_into().expect("split at its length")));
        Ok(Some((visitor, node, from.try_into().expect("the rest is a token"))))
    }
}

fn seqpacket(flags: SocketFlags) -> io::Result<OwnedFd> {
    let flags = flags | SocketFlags::CLOEXEC;
    Ok(socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(20)
    }

    #[test]
    fn every_two_nodes_of_a_host_meet_once() {
        let doors: Vec<Door> = (0..4).map(|_| Door::open().unwrap()).collect();
        let meetings: Vec<_> = (0..).map(NodeId).zip(doors.iter().map(Door::meeting)).collect();
        let nodes: Vec<_> = (0..)
            .map(NodeId)
            .zip(doors)
            .map(|(own, door)| {
                let meetings = meetings.clone();
                std::thread::spawn(move || door.meet(own, &meetings, soon()).unwrap())
            })
            .collect();
        let met: Vec<Vec<(NodeId, OwnedFd)>> = nodes.into_iter().map(|node| node.join().unwrap()).collect();
        for (own, peers) in met.iter().enumerate() {
            let numbers: Vec<usize> = peers.iter().map(|(peer, _)| peer.index()).collect();
            assert_eq!(numbers, (0..4).filter(|peer| *peer != own).collect::<Vec<_>>());
            for (_, socket) in peers {
                send(socket, &[own as u8], SendFlags::NOSIGNAL).unwrap();
            }
        }
        for peers in &met {
            for (peer, socket) in peers {
                wait_readable(socket, soon()).unwrap();
                let mut byte = [0; 1];
                recv(socket, &mut byte[..], RecvFlags::empty()).unwrap();
                assert_eq!(usize::from(byte[0]), peer.index());
            }
        }
    }

    #[test]
    fn strangers_are_turned_away_and_the_neighbour_still_comes_in() {
        let (here, there) = (Door::open().unwrap(), Door::open().unwrap());
        let meetings = [(NodeId(0), there.meeting()), (NodeId(1), here.meeting())];
        let wrong_token = Meeting { token: [0; TOKEN_BYTES], ..here.meeting() };
        let _without_the_token = there.knock(NodeId(0), &wrong_token).unwrap();
        let _another_number = there.knock(NodeId(7), &here.meeting()).unwrap();
        let short = seqpacket(SocketFlags::empty()).unwrap();
        connect(&short, &here.meeting().address().unwrap()).unwrap();
        send(&short, b"hello", SendFlags::NOSIGNAL).unwrap();
        let other = std::thread::spawn(move || there.meet(NodeId(0), &meetings, soon()).unwrap());
        let met = here.meet(NodeId(1), &meetings, soon()).unwrap();
        assert_eq!(met.len(), 1);
        assert_eq!(met[0].0, NodeId(0));
        assert_eq!(other.join().unwrap().len(), 1);
    }

    #[test]
    fn a_neighbour_that_never_comes_is_named() {
        let (here, there) = (Door::open().unwrap(), Door::open().unwrap());
        let meetings = [(NodeId(0), there.meeting()), (NodeId(1), here.meeting())];
        let (missing, cause) = here.meet(NodeId(1), &meetings, Instant::now()).unwrap_err();
        assert_eq!((missing, cause.kind()), (NodeId(0), io::ErrorKind::TimedOut));
    }
}
