//! Nodes of any hosts: frames over one authenticated TCP connection per pair of nodes.
//!
//! Start-up is in `mesh` and `handshake`. Afterwards:
//!
//! 1. All sockets are non-blocking and watched by one epoll descriptor, level-triggered: it is what a sleeper waits on.
//! 2. `send` hands the kernel a frame at once, from where it lies, by one gathering write (`outbound`); what the kernel does
//!    not take leaves when epoll reports room.
//! 3. `progress` reads a bounded amount from each ready connection (`inbound`) and delivers whole frames.
//! 4. A connection that ends without a goodbye, breaks, or carries nonsense makes its peer lost, once.
//! 5. After both goodbyes a connection is no longer watched; it is closed with the endpoint.
//!
//! Get and put are those of [`Emulated`](crate::emulated::Emulated).

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod handshake;
mod header;
mod inbound;
mod mesh;
mod outbound;

use crate::bootstrap::Bootstrap;
use crate::capabilities::Capabilities;
use crate::error::{LrtsError, TransferError};
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::path_use::PathUse;
use crate::region::RegionKey;
use inbound::{Heard, Inbound};
use outbound::{Outbound, Socket};
use parking_lot::Mutex;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::sockopt;
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The longest frame. Measured over loopback, bandwidth no longer grows from 128 KiB on (0.7 GB/s at 4 KiB, 5 at
/// 64 KiB, 6 from 128 KiB to 1 MiB); the rest is room for messages that are not worth a rendezvous.
pub(crate) const FRAME_BYTES_MAX: usize = 1 << 20;

/// Ready connections per progress; the kernel rotates those that remain.
const EVENTS: usize = 64;

const BACKEND: &str = "tcp";

/// What the reader knows of a peer.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Open,
    Closed,
    Lost,
}

struct Reading {
    presence: Presence,
    inbound: Inbound,
}

struct Link {
    peer: NodeId,
    socket: OwnedFd,
    outbound: Mutex<Outbound>,
    /// The peer sends nothing more: it said goodbye or is lost. Written by whoever makes progress.
    silent: AtomicBool,
    /// The peer is lost. Written by whoever makes progress.
    lost: AtomicBool,
}

/// One node's connections.
pub struct Tcp {
    epoll: OwnedFd,
    /// By node; `None` where there is no connection.
    links: Vec<Option<Link>>,
    /// By node likewise. Held by the one thread that makes progress.
    readings: Mutex<Vec<Option<Reading>>>,
    closing: AtomicBool,
}

fn system(operation: &'static str, errno: Errno) -> LrtsError {
    LrtsError::System { operation, backend: BACKEND, source: errno.into(), hint: "" }
}

/// Authenticated connections to `peers`, for whoever wants no more than the proof and the news of an end. Collective, like
/// [`Tcp::open`].
///
/// # Errors
/// As for [`Tcp::open`].
#[cfg(any(feature = "ofi", feature = "verbs", feature = "mpi"))]
pub(crate) fn connect(
    bootstrap: &mut dyn Bootstrap,
    peers: &[NodeId],
    patience: Duration,
) -> Result<BTreeMap<NodeId, OwnedFd>, LrtsError> {
    let connected = mesh::connect_all(bootstrap, peers, patience)?;
    for socket in connected.values() {
        tune(socket).map_err(|errno| system("setting the options of a connection", errno))?;
    }
    Ok(connected)
}

/// How long a host may neither acknowledge nor take bytes before its nodes are lost. A node that does not read for as long,
/// because one of its entries runs and more was sent to it than the kernels keep, looks the same; so it is no shorter.
const SILENCE_MAX: Duration = Duration::from_secs(120);

/// Small frames leave at once; a host that vanishes is noticed, whether bytes are on their way to it or not.
fn tune(socket: &OwnedFd) -> Result<(), Errno> {
    sockopt::set_tcp_nodelay(socket, true)?;
    sockopt::set_tcp_user_timeout(socket, SILENCE_MAX.as_millis() as u32)?;
    sockopt::set_socket_keepalive(socket, true)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(10))?;
    // How many probes go unanswered is bounded by the time above.
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(5))
}

impl Tcp {
    /// Connects this node to `peers`, within `patience` after all nodes have published where they listen.
    /// Collective, with peers that agree with the others': every node of the job calls it, also with no peers.
    ///
    /// # Errors
    /// Who could not be reached or did not prove that it belongs to the job, or what the kernel refused.
    pub fn open(
        bootstrap: &mut dyn Bootstrap,
        peers: &[NodeId],
        patience: Duration,
    ) -> Result<Self, LrtsError> {
        let connected = mesh::connect_all(bootstrap, peers, patience)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("creating the event queue", errno))?;
        let nodes = bootstrap.nodes();
        let mut links: Vec<Option<Link>> = (0..nodes).map(|_| None).collect();
        let mut readings: Vec<Option<Reading>> = (0..nodes).map(|_| None).collect();
        for (peer, socket) in connected {
            tune(&socket).map_err(|errno| system("setting the options of a connection", errno))?;
            let data = u64::from(peer.0);
            let outbound = Outbound::register(&Socket { epoll: &epoll, socket: &socket, data })
                .map_err(|errno| system("watching a connection", errno))?;
            links[peer.index()] = Some(Link {
                peer,
                socket,
                outbound: Mutex::new(outbound),
                silent: AtomicBool::new(false),
                lost: AtomicBool::new(false),
            });
            readings[peer.index()] = Some(Reading { presence: Presence::Open, inbound: Inbound::new() });
        }
        Ok(Self { epoll, links, readings: Mutex::new(readings), closing: AtomicBool::new(false) })
    }

    /// The runtime's frames that a peer was sent.
    pub fn sent(&self, target: NodeId) -> PathUse {
        let link = self.links.get(target.index()).and_then(Option::as_ref);
        link.map_or_else(PathUse::default, |link| link.outbound.lock().sent())
    }

    fn socket<'a>(&'a self, link: &'a Link) -> Socket<'a> {
        Socket { epoll: &self.epoll, socket: &link.socket, data: u64::from(link.peer.0) }
    }

    fn link(&self, node: NodeId) -> &Link {
        let link = self.links.get(node.index()).and_then(Option::as_ref);
        link.unwrap_or_else(|| panic!("no connection to {node} was asked for at start-up"))
    }

    /// Serves one ready connection. Returns whether anything happened.
    fn serve(&self, link: &Link, reading: &mut Reading, flags: EventFlags, sink: &mut dyn Sink) -> bool {
        let wrote = flags.contains(EventFlags::OUT) && link.outbound.lock().write(&self.socket(link));
        let hung_up = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        match reading.presence {
            Presence::Lost => wrote,
            Presence::Closed => {
                self.finish(link, reading, hung_up, sink);
                wrote
            }
            Presence::Open if hung_up || flags.contains(EventFlags::IN) => {
                match reading.inbound.read(&link.socket, link.peer, sink) {
                    Heard::Bytes(count) => return wrote || count > 0,
                    Heard::Goodbye => {
                        reading.presence = Presence::Closed;
                        link.silent.store(true, Ordering::Release);
                        link.outbound.lock().stop_reading(&self.socket(link));
                        sink.peer_closed(link.peer);
                        self.finish(link, reading, false, sink);
                    }
                    Heard::End(cause) => {
                        let cause = link.outbound.lock().broken().map_or(cause, str::to_owned);
                        self.lose(link, reading, sink, |peer| LrtsError::PeerLost {
                            peer,
                            backend: BACKEND,
                            cause,
                        });
                    }
                    Heard::Breach(cause) => self.lose(link, reading, sink, |peer| LrtsError::Protocol {
                        peer,
                        backend: BACKEND,
                        what: "frame",
                        cause,
                    }),
                }
                true
            }
            Presence::Open => wrote,
        }
    }

    /// After the peer's goodbye: stops watching once ours is out, or once it will never be.
    fn finish(&self, link: &Link, reading: &mut Reading, hung_up: bool, sink: &mut dyn Sink) {
        let mut outbound = link.outbound.lock();
        if outbound.is_finished() {
            outbound.forget(&self.socket(link));
        } else if hung_up {
            drop(outbound);
            self.lose(link, reading, sink, |peer| LrtsError::PeerLost {
                peer,
                backend: BACKEND,
                cause: "it left before it had read what was sent to it".to_owned(),
            });
        }
    }

    fn lose(
        &self,
        link: &Link,
        reading: &mut Reading,
        sink: &mut dyn Sink,
        error: impl FnOnce(NodeId) -> LrtsError,
    ) {
        let error = error(link.peer);
        reading.presence = Presence::Lost;
        let mut outbound = link.outbound.lock();
        outbound.break_off(error.to_string(), &self.socket(link));
        outbound.forget(&self.socket(link));
        drop(outbound);
        link.lost.store(true, Ordering::Release);
        link.silent.store(true, Ordering::Release);
        sink.peer_lost(error);
    }
}

impl Lrts for Tcp {
    fn name(&self) -> &'static str {
        BACKEND
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: false,
            put: false,
            view: false,
            immediate: false,
            frame_bytes_max: FRAME_BYTES_MAX,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        let link = self.link(target);
        link.outbound.lock().send(frame, &self.socket(link))
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Some(mut readings) = self.readings.try_lock() else { return false };
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interrupted call is repeated by the next progress; nothing else can fail on our own descriptor.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, Some(&now)) else { return false };
        let mut happened = false;
        for Event { flags, data } in events.iter().copied() {
            let node = data.u64() as usize;
            if let (Some(link), Some(reading)) = (&self.links[node], &mut readings[node]) {
                happened |= self.serve(link, reading, flags, sink);
            }
        }
        happened
    }

    /// # Panics
    /// Always: it has no get; [`Emulated`](crate::emulated::Emulated) has.
    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        panic!("tcp has no get of its own, asked for from {}", get.key.node)
    }

    /// # Panics
    /// Always: it has no put; [`Emulated`](crate::emulated::Emulated) has.
    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        panic!("tcp has no put of its own, asked for to {}", put.key.node)
    }

    fn view(&self, _: &RegionKey, _: u64, _: usize) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    /// Always `true`: the event descriptor is readable as long as anything is to be done.
    fn arm(&self) -> bool {
        true
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.epoll.as_fd())
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        for link in self.links.iter().flatten() {
            link.outbound.lock().say_goodbye(&self.socket(link));
        }
    }

    fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire)
            && self.links.iter().flatten().all(|link| {
                link.lost.load(Ordering::Acquire)
                    || (link.silent.load(Ordering::Acquire) && link.outbound.lock().is_finished())
            })
    }
}
