//! One authenticated TCP connection to each peer that carries nothing but the news of its end.
//!
//! Networks differ in what they tell of a peer that dies: some report it with the next operation, some never. The
//! kernel closes a dead process's sockets, and keepalive finds vanished hosts within half a minute.
//!
//! 1. A node writes [`LAST_WORD`] once its goodbye has left by the network; nothing else is ever written.
//! 2. An end after the last word is orderly: the goodbye is on its way. Any other end is a loss.

use crate::error::LrtsError;
use crate::ids::NodeId;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::time::Duration;

const LAST_WORD: u8 = b'.';

/// How long a host may leave keepalive unanswered. Nothing else is sent, so that a node which does not read is not mistaken for a
/// vanished one.
const SILENCE_MAX: Duration = Duration::from_secs(25);

/// Connections looked at in one go; the kernel rotates those that remain.
const EVENTS: usize = 16;

/// How a connection ended.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum End {
    /// After the last word.
    Orderly,
    /// Without it, for this reason.
    Broken(String),
}

struct Lifeline {
    socket: OwnedFd,
    heard_last_word: bool,
}

/// All of one node.
pub(crate) struct Lifelines {
    epoll: OwnedFd,
    open: BTreeMap<NodeId, Lifeline>,
}

impl Lifelines {
    /// Watches connections, for a backend of this name.
    ///
    /// # Errors
    /// The kernel's.
    pub(crate) fn new(backend: &'static str, sockets: BTreeMap<NodeId, OwnedFd>) -> Result<Self, LrtsError> {
        let system = |errno: Errno| LrtsError::System {
            operation: "watching the connections to peers",
            backend,
            source: errno.into(),
            hint: "; raise the limit of open files (`ulimit -n`)",
        };
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(system)?;
        for (peer, socket) in &sockets {
            rustix::net::sockopt::set_tcp_user_timeout(socket, SILENCE_MAX.as_millis() as u32)
                .map_err(system)?;
            let data = EventData::new_u64(u64::from(peer.0));
            epoll::add(&epoll, socket, data, EventFlags::IN).map_err(system)?;
        }
        let watch = |(peer, socket)| (peer, Lifeline { socket, heard_last_word: false });
        Ok(Self { epoll, open: sockets.into_iter().map(watch).collect() })
    }

    /// Readable when something ended.
    pub(crate) fn event_fd(&self) -> BorrowedFd<'_> {
        self.epoll.as_fd()
    }

    /// Tells a peer that our goodbye has left.
    pub(crate) fn write_last_word(&self, peer: NodeId) {
        if let Some(lifeline) = self.open.get(&peer) {
            // An empty connection takes a byte, or it has ended, which is heard by reading.
            let _ =
                rustix::net::send(&lifeline.socket, &[LAST_WORD], SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
        }
    }

    /// What ended since the last time. One system call when nothing did.
    pub(crate) fn check(&mut self) -> Vec<(NodeId, End)> {
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interrupted call is repeated by the next one.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, Some(&now)) else { return Vec::new() };
        let peers = events.iter().map(|event| NodeId({ event.data }.u64() as u32));
        let mut ended = Vec::new();
        for peer in peers {
            let Some(lifeline) = self.open.get_mut(&peer) else { continue };
            if let Some(end) = lifeline.read() {
                self.open.remove(&peer);
                ended.push((peer, end));
            }
        }
        ended
    }
}

impl Lifeline {
    fn read(&mut self) -> Option<End> {
        let mut bytes = [0; 8];
        loop {
            return match rustix::net::recv(&self.socket, &mut bytes, RecvFlags::DONTWAIT) {
                Ok((0, _)) if self.heard_last_word => Some(End::Orderly),
                Ok((0, _)) => Some(End::Broken("its process ended without a goodbye".to_owned())),
                Ok((count, _)) if bytes[..count].iter().all(|byte| *byte == LAST_WORD) => {
                    self.heard_last_word = true;
                    continue;
                }
                Ok(_) => {
                    Some(End::Broken("it wrote nonsense on the connection that shows its life".to_owned()))
                }
                Err(Errno::AGAIN) => None,
                Err(Errno::INTR) => continue,
                Err(errno) => Some(End::Broken(errno.to_string())),
            };
        }
    }
}
