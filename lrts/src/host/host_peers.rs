//! Host peers: a node's links to all other nodes of its host, opened once, shared by the backends.
//!
//! 1. Opening: make a ring for each neighbour to write, say hello to all, then wait for all hellos,
//!    until the deadline. An error names those that are missing then.
//! 2. Afterwards the links are read by the thread that makes progress: when its doorbell woke it, else every few
//!    milliseconds, so that a neighbour's death is noticed while nobody sleeps.
//! 3. Nothing is keyed by process: several nodes may live in one.

#![expect(clippy::disallowed_methods, reason = "processes of a host meet in real time")]

use crate::bootstrap::Bootstrap;
use crate::error::LrtsError;
use crate::host::arena::Arenas;
use crate::host::doorbell::{Doorbell, ring_doorbell};
use crate::host::host_peer::{Hello, HostPeer, RING_CONTROL_BYTES, RING_DATA_BYTES_MIN};
use crate::host::link::{Introduction, Link, Received};
use crate::ids::NodeId;
use crate::mapping::Mapping;
use crate::region::Regions;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::fmt;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const BACKEND: &str = "shm";

/// Up to this many neighbours get long rings. Every pair has two of them, and all are backed: with 128
/// nodes on a host, short ones take 4 GiB.
const NEIGHBOURS_WITH_LONG_RINGS: usize = 16;

/// Data bytes of a long ring: a few frames of the longest kind, and still at home in a second-level cache.
const LONG_RING_DATA_BYTES: usize = 512 << 10;

/// How often the links are read while nobody sleeps.
const LINK_PERIOD_MS: u64 = 5;

/// Between two hellos while the kernel takes no more descriptors.
const CROWDED: Duration = Duration::from_millis(1);

/// Eight bytes that neighbours write to find out whether they may. Lives as long as the process, because a
/// neighbour may write at any time; nobody reads it.
static SCRATCH: AtomicU64 = AtomicU64::new(0);

/// The other nodes of a node's host, and what it shares with them.
pub struct HostPeers {
    regions: Arc<Regions>,
    arenas: Arc<Arenas>,
    neighbours: Vec<Arc<HostPeer>>,
    /// By node of the job: its position in `neighbours`.
    positions: Vec<Option<usize>>,
    doorbell: Doorbell,
    #[expect(dead_code, reason = "neighbours read it, to prove that this is the process they think it is")]
    pattern: Box<[u64; 2]>,
    /// When the links are due, in milliseconds of the coarse clock. Written by the thread that reads them.
    due_ms: AtomicU64,
}

/// A neighbour that is not known yet.
struct Stranger {
    link: Arc<Link>,
    hello: Option<Hello>,
}

impl Stranger {
    fn new((peer, socket): (NodeId, OwnedFd)) -> Self {
        Self { link: Arc::new(Link::new(peer, socket)), hello: None }
    }

    /// Takes the neighbour's hello, if it is here.
    fn listen(&mut self) -> Result<(), LrtsError> {
        if self.hello.is_some() {
            return Ok(());
        }
        let peer = self.link.peer();
        let message = match self.link.receive() {
            Received::Nothing => return Ok(()),
            Received::Ended => return Err(lost(peer)),
            Received::Invalid(cause) => return Err(protocol(peer, cause)),
            Received::Message(message) => message,
        };
        self.hello = Some(Hello::open(peer, message).map_err(|cause| protocol(peer, cause))?);
        Ok(())
    }
}

impl HostPeers {
    /// Meets all other nodes of the host. Blocks until each has called it too, at most for `patience`.
    ///
    /// # Errors
    /// When the kernel grants no memory or descriptors, a neighbour is lost, says an invalid hello, or says
    /// none in time; the error names it.
    pub fn open(
        bootstrap: &mut dyn Bootstrap,
        regions: Arc<Regions>,
        patience: Duration,
    ) -> Result<Arc<Self>, LrtsError> {
        let deadline = Instant::now() + patience;
        let sockets = bootstrap.take_neighbours();
        let ring_bytes = RING_CONTROL_BYTES
            + if sockets.len() <= NEIGHBOURS_WITH_LONG_RINGS {
                LONG_RING_DATA_BYTES
            } else {
                RING_DATA_BYTES_MIN
            };
        let doorbell = Doorbell::new().map_err(|source| system("creating the doorbell", source))?;
        let pattern = Box::new(rand::random::<[u64; 2]>());
        let introduction = Introduction {
            node: bootstrap.node(),
            pid: rustix::process::getpid().as_raw_nonzero().get(),
            probe_address: pattern.as_ptr().addr() as u64,
            pattern: *pattern,
            scratch_address: (&raw const SCRATCH).addr() as u64,
            ring_bytes: ring_bytes as u64,
        };
        let mut strangers: Vec<Stranger> = sockets.into_iter().map(Stranger::new).collect();
        let board = regions.board().descriptor().expect("a node's own board has its descriptor");
        let mut rings = Vec::with_capacity(strangers.len());
        for position in 0..strangers.len() {
            let (inbound, ring) = Mapping::create("chare-ring", ring_bytes)
                .map_err(|source| system("creating a message ring", source))?;
            let descriptors = [board, ring.as_fd(), doorbell.button()];
            greet(&mut strangers, position, introduction, descriptors, deadline)?;
            rings.push(inbound);
        }
        hear_all(&mut strangers, deadline, patience)?;
        let arenas = Arenas::new(strangers.iter().map(|stranger| Arc::clone(&stranger.link)).collect());
        let mut neighbours = Vec::with_capacity(strangers.len());
        for (position, (Stranger { link, hello }, inbound)) in strangers.into_iter().zip(rings).enumerate() {
            let hello = hello.expect("all have said theirs");
            let neighbour = Arc::new(HostPeer::new(link, inbound, hello, Arc::clone(regions.bells())));
            let told = Arc::downgrade(&neighbour);
            let ring = move || told.upgrade().iter().for_each(|neighbour| neighbour.bring_news());
            regions.bells().add(neighbour.node(), Box::new(ring));
            doorbell
                .watch(position, neighbour.link().socket())
                .map_err(|source| system("watching a link", source))?;
            neighbours.push(neighbour);
        }
        let mut positions = vec![None; bootstrap.nodes() as usize];
        for (position, neighbour) in neighbours.iter().enumerate() {
            let index = neighbour.node().index();
            assert!(index < positions.len(), "the bootstrap names a neighbour outside the job");
            positions[index] = Some(position);
        }
        Ok(Arc::new(Self {
            regions,
            arenas: Arc::new(arenas),
            neighbours,
            positions,
            doorbell,
            pattern,
            due_ms: AtomicU64::new(0),
        }))
    }

    /// The other nodes of this host.
    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.neighbours.iter().map(|neighbour| neighbour.node())
    }

    /// This node's regions.
    pub fn regions(&self) -> &Arc<Regions> {
        &self.regions
    }

    /// This node's shareable memory.
    pub fn arenas(&self) -> &Arc<Arenas> {
        &self.arenas
    }

    pub(crate) fn neighbours(&self) -> &[Arc<HostPeer>] {
        &self.neighbours
    }

    /// Where a node stands among the neighbours, if it is one.
    pub(crate) fn position(&self, node: NodeId) -> Option<usize> {
        self.positions.get(node.index()).copied().flatten()
    }

    /// A neighbour by its name.
    pub(crate) fn neighbour(&self, node: NodeId) -> Option<&Arc<HostPeer>> {
        self.position(node).map(|position| &self.neighbours[position])
    }

    pub(crate) fn doorbell(&self) -> &Doorbell {
        &self.doorbell
    }

    /// Reads the links if that was not done in the last milliseconds; says whether it was due. Otherwise costs one look
    /// at a clock that needs no system call.
    pub(crate) fn read_links_if_due(&self) -> bool {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
        let now_ms = now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000;
        let is_due = now_ms >= self.due_ms.load(Ordering::Relaxed);
        if is_due {
            self.due_ms.store(now_ms + LINK_PERIOD_MS, Ordering::Relaxed);
            self.read_links();
        }
        is_due
    }

    /// Reads what waits in the links.
    pub(crate) fn read_links(&self) {
        self.doorbell.visit_ready(|position| {
            let neighbour = &self.neighbours[position];
            neighbour.read_link();
            if neighbour.fate().is_some() {
                self.doorbell.forget(neighbour.link().socket());
                // Another thread may sleep; its next look at the link would find nothing. What waits for a claim on the neighbour's
                // memory finds that it is lost.
                self.regions.board().add_news();
                ring_doorbell(self.doorbell.button());
            }
        });
    }
}

impl fmt::Debug for HostPeers {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "HostPeers({} with {} neighbours)", self.regions.node(), self.neighbours.len())
    }
}

/// Says hello to the neighbour at `position`, which is not known yet.
fn greet(
    strangers: &mut [Stranger],
    position: usize,
    introduction: Introduction,
    descriptors: [BorrowedFd<'_>; 3],
    deadline: Instant,
) -> Result<(), LrtsError> {
    let link = Arc::clone(&strangers[position].link);
    let peer = link.peer();
    loop {
        match link.introduce(introduction, descriptors) {
            Ok(()) => return Ok(()),
            Err(Errno::AGAIN) => wait(&[&link], PollFlags::OUT, deadline)
                .map_err(|cause| connect(peer, format!("its socket takes no hello: {cause}")))?,
            // All nodes greet at once, and the kernel counts the descriptors that nobody has taken yet against one limit of the user's.
            Err(Errno::TOOMANYREFS) if Instant::now() < deadline => {
                strangers.iter_mut().try_for_each(Stranger::listen)?;
                std::thread::sleep(CROWDED);
            }
            Err(Errno::PIPE | Errno::CONNRESET) => return Err(lost(peer)),
            Err(error) => return Err(connect(peer, format!("saying hello failed: {error}"))),
        }
    }
}

/// Takes the hellos, each as soon as it is here: others may wait until the kernel counts fewer descriptors under way.
fn hear_all(strangers: &mut [Stranger], deadline: Instant, patience: Duration) -> Result<(), LrtsError> {
    loop {
        strangers.iter_mut().try_for_each(Stranger::listen)?;
        let silent: Vec<&Link> =
            strangers.iter().filter(|one| one.hello.is_none()).map(|one| &*one.link).collect();
        let Some(first) = silent.first() else { return Ok(()) };
        wait(&silent, PollFlags::IN, deadline).map_err(|cause| {
            let seconds = patience.as_secs_f32();
            connect(first.peer(), format!("no hello within {seconds} s ({cause}); is its process stuck?"))
        })?;
    }
}

/// Waits until one of these links is ready.
fn wait(links: &[&Link], flags: PollFlags, deadline: Instant) -> io::Result<()> {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
        let mut sockets: Vec<PollFd<'_>> =
            links.iter().map(|link| PollFd::from_borrowed_fd(link.socket(), flags)).collect();
        match rustix::event::poll(&mut sockets, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
}

fn system(operation: &'static str, source: io::Error) -> LrtsError {
    let hint = match source.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::MFILE | Errno::NFILE) => "; raise the limit of open files (`ulimit -n`)",
        Some(Errno::NOMEM | Errno::NOSPC) => {
            "; free memory, start fewer nodes on this host, or run with `+nolocal`"
        }
        _ => "; `+nolocal` does without memory shared between nodes",
    };
    LrtsError::System { operation, backend: BACKEND, source: Arc::new(source), hint }
}

fn connect(peer: NodeId, cause: String) -> LrtsError {
    LrtsError::Connect { peer, backend: BACKEND, cause }
}

fn protocol(peer: NodeId, cause: String) -> LrtsError {
    LrtsError::Protocol { peer, backend: BACKEND, what: "hello", cause }
}

fn lost(peer: NodeId) -> LrtsError {
    let cause = "its process ended during start-up".to_owned();
    LrtsError::PeerLost { peer, backend: BACKEND, cause }
}
