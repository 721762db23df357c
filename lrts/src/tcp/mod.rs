//! TCP: the backend between nodes of any hosts, with frames over one authenticated connection per pair. Never a get or put of its own.
//!
//! Start-up is in `mesh` and `handshake`. Afterwards:
//!
//! 1. All sockets are non-blocking and watched by one epoll descriptor, level-triggered: it is what a sleeper waits on.
//! 2. `send` hands the kernel a frame at once, from where it lies, by one gathering write (`outbound`); what the kernel does
//!    not take leaves when epoll reports room.
//! 3. `progress` reads a bounded amount from each ready connection (`inbound`) and delivers whole frames.
//! 4. A connection that ends without a goodbye, breaks, or carries nonsense makes its peer lost, once.
//! 5. After both goodbyes a connection is no longer watched; it is closed with the endpoint.
//! 6. Frames between hosts carry tags that nobody on their path can make, or are sealed (`seal`); `protection` says which.
//! 7. A host that vanishes is noticed by a second connection to each peer, which carries nothing (`tcp::keepalive`).
//!
//! Get and put are those of [`Emulated`](crate::emulated::Emulated).

#[cfg(feature = "fuzzing")]
pub(crate) mod fuzzing;
mod half_open;
mod handshake;
mod header;
mod inbound;
pub(crate) mod keepalive;
mod mesh;
mod noise;
mod outbound;
mod protection;
mod seal;
mod sockets;
#[cfg(test)]
mod tests;

pub use protection::{Protection, TcpOptions};

use crate::bootstrap::Bootstrap;
use crate::error::{LrtsError, TransferError};
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::peer_state::PeerState;
use crate::region::RegionKey;
use crate::wrappers::Flip;
use handshake::{Line, Secured};
use header::FRAME_BYTES_MAX;
use inbound::{Heard, Inbound};
use keepalive::{Keepalives, Sign};
use mesh::Connection;
use outbound::{Outbound, Socket};
use parking_lot::Mutex;
use protection::Agreed;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use seal::Seals;
use sockets::BACKEND;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ready connections per progress; the kernel rotates those that remain.
const EVENTS: usize = 64;

/// Data of the keepalive connections' events, where those of other connections carry a node.
const KEEPALIVES: u64 = u64::MAX;

struct Reading {
    state: PeerState,
    inbound: Inbound,
}

struct Link {
    peer: NodeId,
    socket: OwnedFd,
    agreed: Agreed,
    outbound: Mutex<Outbound>,
    /// The peer sends nothing more: it said goodbye or is lost. Written by the thread that makes progress.
    silent: AtomicBool,
    /// The peer is lost. Written by the thread that makes progress.
    lost: AtomicBool,
}

/// State of the one thread that makes progress.
struct Hearing {
    /// By node; `None` where there is no connection.
    readings: Vec<Option<Reading>>,
    keepalives: Keepalives,
}

/// One node's connections.
pub struct Tcp {
    epoll: OwnedFd,
    /// By node; `None` where there is no connection.
    links: Vec<Option<Link>>,
    hearing: Mutex<Hearing>,
    closing: AtomicBool,
}

fn system(operation: &'static str, errno: Errno) -> LrtsError {
    LrtsError::System { operation, backend: BACKEND, source: Arc::new(errno.into()), hint: "" }
}

fn gone(peer: NodeId, cause: String) -> LrtsError {
    LrtsError::PeerLost { peer, backend: BACKEND, cause }
}

fn breach(peer: NodeId, cause: String) -> LrtsError {
    LrtsError::Protocol { peer, backend: BACKEND, what: "frame", cause }
}

fn forged(peer: NodeId) -> LrtsError {
    LrtsError::Forged { peer, backend: BACKEND }
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
        options: &TcpOptions,
        patience: Duration,
    ) -> Result<Self, LrtsError> {
        let lines = [Line::Frames, Line::Keepalive];
        let mut frames = mesh::connect_all(bootstrap, peers, &lines, options, patience)?;
        let lives = frames.split_off(&(Line::Keepalive, NodeId(0)));
        let keepalives = Keepalives::watch(BACKEND, lives)?;
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("creating the event queue", errno))?;
        let watching = |errno| system("watching a connection", errno);
        let data = EventData::new_u64(KEEPALIVES);
        epoll::add(&epoll, keepalives.event_fd(), data, EventFlags::IN).map_err(watching)?;
        let nodes = bootstrap.nodes();
        let mut links: Vec<Option<Link>> = (0..nodes).map(|_| None).collect();
        let mut readings: Vec<Option<Reading>> = (0..nodes).map(|_| None).collect();
        for ((_, peer), Connection { socket, secured }) in frames {
            let Secured { seals: Seals { outgoing, incoming }, agreed } = secured;
            let data = u64::from(peer.0);
            // A bit that nobody would miss is left alone.
            let plan = options.fault.as_ref().filter(|_| outgoing.is_some());
            let flip = plan.and_then(|plan| Flip::of(plan, [bootstrap.node(), peer]));
            let socket_of_it = Socket { epoll: &epoll, socket: &socket, data };
            let outbound = Outbound::register(&socket_of_it, outgoing, flip).map_err(watching)?;
            links[peer.index()] = Some(Link {
                peer,
                socket,
                agreed,
                outbound: Mutex::new(outbound),
                silent: AtomicBool::new(false),
                lost: AtomicBool::new(false),
            });
            readings[peer.index()] =
                Some(Reading { state: PeerState::Open, inbound: Inbound::new(incoming) });
        }
        let hearing = Mutex::new(Hearing { readings, keepalives });
        Ok(Self { epoll, links, hearing, closing: AtomicBool::new(false) })
    }

    /// The runtime's frames that a peer was sent.
    pub fn sent(&self, target: NodeId) -> PathUse {
        let link = self.links.get(target.index()).and_then(Option::as_ref);
        link.map_or_else(PathUse::default, |link| link.outbound.lock().sent())
    }

    /// What guards the frames to and from a peer, in words that follow the backend's name; none where nothing has to.
    pub fn protection(&self, peer: NodeId) -> &'static str {
        self.links.get(peer.index()).and_then(Option::as_ref).map_or("", |link| link.agreed.words)
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
        match reading.state {
            PeerState::Lost => wrote,
            PeerState::Closed => {
                self.finish(link, reading, hung_up, sink);
                wrote
            }
            PeerState::Open if hung_up || flags.contains(EventFlags::IN) => {
                match reading.inbound.read(&link.socket, link.peer, sink) {
                    Heard::Bytes(count) => return wrote || count > 0,
                    Heard::Goodbye => {
                        reading.state = PeerState::Closed;
                        link.silent.store(true, Ordering::Release);
                        link.outbound.lock().stop_reading(&self.socket(link));
                        sink.peer_closed(link.peer);
                        self.finish(link, reading, false, sink);
                    }
                    Heard::End(cause) => {
                        let cause = link.outbound.lock().broken().map_or(cause, str::to_owned);
                        self.lose(link, reading, sink, gone(link.peer, cause));
                    }
                    Heard::Breach(cause) => self.lose(link, reading, sink, breach(link.peer, cause)),
                    Heard::Forged => self.lose(link, reading, sink, forged(link.peer)),
                }
                true
            }
            PeerState::Open => wrote,
        }
    }

    /// After the peer's goodbye: stops watching once ours is out, or once it will never be.
    fn finish(&self, link: &Link, reading: &mut Reading, hung_up: bool, sink: &mut dyn Sink) {
        let mut outbound = link.outbound.lock();
        if outbound.is_finished() {
            outbound.forget(&self.socket(link));
        } else if hung_up {
            drop(outbound);
            let cause = "it left before it had read what was sent to it".to_owned();
            self.lose(link, reading, sink, gone(link.peer, cause));
        }
    }

    /// Hears what the keepalive connections tell. Returns whether there was anything.
    fn check_keepalives(&self, hearing: &mut Hearing, sink: &mut dyn Sink) -> bool {
        let Hearing { readings, keepalives } = hearing;
        let signs = keepalives.check();
        let happened = !signs.is_empty();
        for (peer, sign) in signs {
            let (Some(link), Some(reading)) = (&self.links[peer.index()], &mut readings[peer.index()]) else {
                continue;
            };
            let error = match sign {
                // The other connection has ended, too, behind the last frames.
                Sign::Ended => continue,
                Sign::Broken(cause) => gone(peer, cause),
                // No node says anything there.
                Sign::Goodbye | Sign::Heard => forged(peer),
            };
            let is_over = match reading.state {
                PeerState::Open => false,
                PeerState::Closed => link.outbound.lock().is_finished(),
                PeerState::Lost => true,
            };
            if !is_over {
                self.lose(link, reading, sink, error);
            }
        }
        happened
    }

    fn lose(&self, link: &Link, reading: &mut Reading, sink: &mut dyn Sink, error: LrtsError) {
        reading.state = PeerState::Lost;
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
            runs: false,
            view: false,
            device: false,
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
        let Some(mut hearing) = self.hearing.try_lock() else { return false };
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        // An interrupted call is repeated by the next progress; nothing else can fail on our own descriptor.
        let Ok((events, _)) = epoll::wait(&self.epoll, &mut events, Some(&now)) else { return false };
        let mut happened = false;
        for Event { flags, data } in events.iter().copied() {
            if data.u64() == KEEPALIVES {
                happened |= self.check_keepalives(&mut hearing, sink);
                continue;
            }
            let node = data.u64() as usize;
            if let (Some(link), Some(reading)) = (&self.links[node], &mut hearing.readings[node]) {
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

    fn view(&self, _: &RegionKey, _: u64, _: usize, _: Entering) -> Result<Option<Memory>, TransferError> {
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
