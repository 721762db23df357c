//! Which path leads to which peer: a backend made of backends, decided once at start-up (`open`).
//!
//! | to | messages | get and put | view |
//! |---|---|---|---|
//! | this node | never reach the network | one copy | in place |
//! | a neighbour, shareable region | shm (or tcp) | one copy in the mapping | in place |
//! | a neighbour, other region | shm (or tcp) | CMA where the kernel allows it, else emulated | none |
//! | a node of another host | tcp | emulated | none |
//!
//! The options take rows out of the table; see [`ReachOptions`] and [`crate::backends`].
//!
//! 1. A peer's messages and emulated transfers share one backend, so it is lost or closed once.
//! 2. A transfer that a path refuses for good (the kernel denies CMA later, an arena cannot be mapped) goes on
//!    by messages, and so do all later ones of that peer on that path; one warning says so.
//! 3. [`Reach::wake`] is kept until the next [`Reach::wait`] or `arm`: a wake-up is never lost.
//! 4. Memory of ended registrations is collected by whoever registered it, with [`Regions::reap`].

mod open;
mod traffic;
mod transfer;

pub use open::ReachOptions;
pub use traffic::{PathUse, PeerUse};

use crate::capabilities::Capabilities;
use crate::cma::Cma;
use crate::emulated::Emulated;
use crate::error::{LrtsError, TransferError};
use crate::frame::Frame;
use crate::host::{ArenaError, Arenas};
use crate::ids::NodeId;
use crate::lrts::{Completion, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memcpy::copy;
use crate::memory::{Memory, MemoryMut};
use crate::region::{RegionKey, Regions};
use crate::shm::Shm;
use crate::tcp::Tcp;
use parking_lot::Mutex;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use traffic::Traffic;
use transfer::Transfer;

/// What is allocated from arenas, which are backed at once, on a peer's word: more than most transfers, less than would
/// hurt a host.
const POOLED_BYTES_MAX: usize = 256 << 20;

/// The longest frame where no backend carries any.
const LONE_FRAME_BYTES_MAX: usize = 64 << 10;

/// Which backend carries a peer's messages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Messages {
    /// The peer is this node.
    Myself,
    Shm,
    Tcp,
}

/// The paths to a peer, as they are decided at start-up.
#[derive(Clone, Copy)]
struct Route {
    messages: Messages,
    mapping: bool,
    kernel_copy: bool,
}

struct Peer {
    messages: Messages,
    /// Shareable regions of the peer are mapped. Cleared when that fails.
    mapping: AtomicBool,
    /// The kernel copies from and to the peer's memory. Cleared when it refuses.
    kernel_copy: AtomicBool,
    traffic: Traffic,
}

/// What `open` opened.
struct Parts {
    regions: Arc<Regions>,
    routes: Vec<Route>,
    shm: Option<Emulated<Shm>>,
    tcp: Option<Emulated<Tcp>>,
    cma: Option<Cma>,
    arenas: Option<Arc<Arenas>>,
    warning: Option<String>,
}

/// One node's paths to all nodes.
///
/// ```
/// use chare_lrts::bootstrap::single::Single;
/// use chare_lrts::reach::{Reach, ReachOptions};
/// use chare_lrts::{Get, Held, Lrts, Posted};
///
/// let reach = Reach::open(&mut Single::new(), &ReachOptions::default())?;
/// let key = reach.regions().register(Held::Source(reach.allocate(4096).freeze())).expect("a free slot");
/// let into = reach.allocate(4096);
/// let posted = reach.get(Get { key, offset: 0, into, len: 4096, token: 7 });
/// assert!(matches!(posted, Ok(Posted::Done(done)) if done.result == Ok(4096)));
/// # Ok::<(), chare_lrts::LrtsError>(())
/// ```
pub struct Reach {
    regions: Arc<Regions>,
    /// By node.
    peers: Vec<Peer>,
    shm: Option<Emulated<Shm>>,
    tcp: Option<Emulated<Tcp>>,
    cma: Option<Cma>,
    /// Where buffers live that neighbours may map, if any may.
    arenas: Option<Arc<Arenas>>,
    /// Whether a lack of shareable memory was told.
    told_of_arenas: AtomicBool,
    warnings: Mutex<Vec<String>>,
    /// Readable while a wake-up is pending.
    waker: OwnedFd,
    /// Watches the waker and all that the backends sleep on.
    events: OwnedFd,
    closing: AtomicBool,
}

fn system(operation: &'static str, errno: Errno) -> LrtsError {
    let hint = "; raise the limit of open files (`ulimit -n`)";
    LrtsError::System { operation, backend: "reach", source: errno.into(), hint }
}

impl Reach {
    fn assemble(parts: Parts) -> Result<Self, LrtsError> {
        let Parts { regions, routes, shm, tcp, cma, arenas, warning } = parts;
        let waker = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)
            .map_err(|errno| system("creating the waker", errno))?;
        let events = epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(|errno| system("creating the event queue", errno))?;
        let sleepers = [
            Some(waker.as_fd()),
            shm.as_ref().and_then(|shm| shm.event_fd()),
            tcp.as_ref().and_then(|tcp| tcp.event_fd()),
        ];
        for sleeper in sleepers.into_iter().flatten() {
            epoll::add(&events, sleeper, EventData::new_u64(0), EventFlags::IN)
                .map_err(|errno| system("watching a backend", errno))?;
        }
        let peer = |route: Route| Peer {
            messages: route.messages,
            mapping: AtomicBool::new(route.mapping),
            kernel_copy: AtomicBool::new(route.kernel_copy),
            traffic: Traffic::default(),
        };
        Ok(Self {
            regions,
            peers: routes.into_iter().map(peer).collect(),
            shm,
            tcp,
            cma,
            arenas,
            told_of_arenas: AtomicBool::new(false),
            warnings: Mutex::new(warning.into_iter().collect()),
            waker,
            events,
            closing: AtomicBool::new(false),
        })
    }

    /// This node's registered memory.
    pub fn regions(&self) -> &Arc<Regions> {
        &self.regions
    }

    /// Memory for buffers: where neighbours can map it, if they may, else on the heap. Its bytes are whatever they
    /// were before. Constant time, but for the first buffers and growth.
    pub fn allocate(&self, len: usize) -> MemoryMut {
        let Some(arenas) = &self.arenas else { return MemoryMut::heap_zeroed(len) };
        arenas.allocate(len).unwrap_or_else(|error| {
            // A neighbour that is slow to hear of an arena is no news; a lack of memory is, once.
            let is_news = !matches!(error, ArenaError::Unannounced { .. });
            if is_news && !self.told_of_arenas.swap(true, Ordering::Relaxed) {
                self.warn(format!(
                    "a buffer of {len} bytes is not shareable, so that neighbours copy it: {error}"
                ));
            }
            MemoryMut::heap_zeroed(len)
        })
    }

    /// Memory for `len` bytes that a peer says it has; `None` when so much cannot be had. Beyond [`POOLED_BYTES_MAX`] the kernel
    /// backs it as the bytes arrive, so that a false length costs address space only.
    pub fn allocate_announced(&self, len: u64) -> Option<MemoryMut> {
        let len = usize::try_from(len).ok()?;
        if len <= POOLED_BYTES_MAX { Some(self.allocate(len)) } else { MemoryMut::try_heap_zeroed(len) }
    }

    fn warn(&self, warning: String) {
        self.warnings.lock().push(warning);
    }

    /// What the user should know and has not been told: paths that had to be given up, why, and what helps.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut *self.warnings.lock())
    }

    /// The paths to a peer, in words.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn path(&self, peer: NodeId) -> String {
        let Peer { messages, mapping, kernel_copy, .. } = &self.peers[peer.index()];
        let carrier = match messages {
            Messages::Myself => return "same process: memory by memcpy".to_owned(),
            Messages::Shm => "shm",
            Messages::Tcp => "tcp",
        };
        let mut memory = Vec::new();
        if mapping.load(Ordering::Relaxed) {
            memory.push("shared mapping".to_owned());
        }
        if kernel_copy.load(Ordering::Relaxed) {
            memory.push("CMA".to_owned());
        } else {
            memory.push(format!("emulated over {carrier}"));
        }
        format!("messages by {carrier}, memory by {}", memory.join(" or "))
    }

    /// Whether shareable memory of a peer's host is mapped here, and so there too: what this node reads in place, the peer
    /// can.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn maps(&self, peer: NodeId) -> bool {
        self.peers[peer.index()].mapping.load(Ordering::Relaxed)
    }

    /// Whether the kernel copies between this node's memory and a peer's.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn copies(&self, peer: NodeId) -> bool {
        self.peers[peer.index()].kernel_copy.load(Ordering::Relaxed)
    }

    /// How the paths to a peer were used so far.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn usage(&self, peer: NodeId) -> PeerUse {
        self.peers[peer.index()].traffic.read()
    }

    /// Sleeps until something may have happened, another thread calls [`Reach::wake`], or the time is over. Returns
    /// at once when there is already something to do. For one thread at a time: a wake-up ends one wait.
    pub fn wait(&self, timeout: Option<Duration>) {
        if !self.arm() {
            return;
        }
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
        // Whatever ends the sleep, the caller looks for work next.
        let _ = rustix::event::poll(&mut [PollFd::new(&self.events, PollFlags::IN)], timeout.as_ref());
        self.take_wake_up();
    }

    /// Ends the current or the next [`Reach::wait`]. One system call.
    pub fn wake(&self) {
        // A full counter is readable, which is all a sleeper needs.
        let _ = rustix::io::write(&self.waker, &1_u64.to_ne_bytes());
    }

    /// Whether there was a wake-up; there is none afterwards.
    fn take_wake_up(&self) -> bool {
        rustix::io::read(&self.waker, &mut [0; 8]).is_ok()
    }

    /// The backend that carries a peer's messages.
    fn carrier(&self, peer: NodeId) -> Option<&dyn Lrts> {
        match self.peers[peer.index()].messages {
            Messages::Myself => None,
            Messages::Shm => self.shm.as_ref().map(|shm| shm as &dyn Lrts),
            Messages::Tcp => self.tcp.as_ref().map(|tcp| tcp as &dyn Lrts),
        }
    }

    fn carriers(&self) -> impl Iterator<Item = &dyn Lrts> {
        let shm = self.shm.iter().map(|shm| shm as &dyn Lrts);
        shm.chain(self.tcp.iter().map(|tcp| tcp as &dyn Lrts))
    }

    /// The mapping backend, if it reaches a region of this peer.
    fn mapper(&self, peer: &Peer, key: &RegionKey) -> Option<&Shm> {
        let shm = self.shm.as_ref().filter(|_| peer.mapping.load(Ordering::Relaxed))?.inner();
        shm.reaches(key).then_some(shm)
    }

    /// CMA, if it reaches this peer.
    fn kernel_copier(&self, peer: &Peer) -> Option<&Cma> {
        self.cma.as_ref().filter(|_| peer.kernel_copy.load(Ordering::Relaxed))
    }

    /// Sends a transfer down the best path that works.
    fn transfer<T: Transfer>(&self, transfer: T) -> Result<Posted, Refused<T>> {
        let (node, len) = (transfer.key().node, transfer.len());
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(transfer));
        }
        if node == self.regions.node() {
            return count(&self.peers[node.index()].traffic.copied, len, transfer.within(&self.regions));
        }
        let Some(peer) = self.peers.get(node.index()) else {
            // No backend knows the node: any of them says so, and without any, so do the regions.
            return transfer.within(&self.regions);
        };
        let mut transfer = transfer;
        if let Some(shm) = self.mapper(peer, transfer.key()) {
            match attempt(shm, transfer)? {
                Attempt::Posted(posted) => return count(&peer.traffic.copied, len, Ok(posted)),
                Attempt::Failed(back, cause) => {
                    transfer = back;
                    self.give_up(&peer.mapping, &cause);
                }
            }
        }
        if let Some(cma) = self.kernel_copier(peer) {
            match attempt(cma, transfer)? {
                Attempt::Posted(posted) => return count(&peer.traffic.kernel_copied, len, Ok(posted)),
                Attempt::Failed(back, cause) => {
                    transfer = back;
                    self.give_up(&peer.kernel_copy, &cause);
                }
            }
        }
        match self.carrier(node) {
            Some(carrier) => count(&peer.traffic.emulated, len, transfer.over(carrier)),
            None => transfer.within(&self.regions),
        }
    }

    /// Notes that a path to a peer does not work, and warns of it once.
    fn give_up(&self, works: &AtomicBool, cause: &TransferError) {
        if works.swap(false, Ordering::Relaxed) {
            self.warn(format!("{cause}; memory goes by messages from here on, which is slower"));
        }
    }
}

/// What came of trying a path that may not work.
enum Attempt<T> {
    Posted(Posted),
    /// The path does not work; the transfer may take another.
    Failed(T, TransferError),
}

fn attempt<T: Transfer>(path: &dyn Lrts, transfer: T) -> Result<Attempt<T>, Refused<T>> {
    let stub = transfer.stub();
    Ok(match transfer.over(path)? {
        Posted::Done(failed @ Completion { result: Err(TransferError::Refused { .. }), .. }) => {
            let cause = failed.result.clone().expect_err("just matched");
            Attempt::Failed(T::again(stub, failed), cause)
        }
        posted => Attempt::Posted(posted),
    })
}

fn count<T>(
    count: &traffic::Count,
    len: usize,
    posted: Result<Posted, Refused<T>>,
) -> Result<Posted, Refused<T>> {
    let failed = |posted: &Posted| matches!(posted, Posted::Done(Completion { result: Err(_), .. }));
    if posted.as_ref().is_ok_and(|posted| !failed(posted)) {
        count.add(len);
    }
    posted
}

impl Lrts for Reach {
    fn name(&self) -> &'static str {
        "reach"
    }

    fn capabilities(&self) -> Capabilities {
        let lengths = self.carriers().map(|carrier| carrier.capabilities().frame_bytes_max);
        let mapped = self.peers.iter().any(|peer| peer.mapping.load(Ordering::Relaxed));
        Capabilities {
            messages: self.peers.len() > 1,
            get: true,
            put: true,
            view: mapped,
            immediate: false,
            frame_bytes_max: lengths.min().unwrap_or(LONE_FRAME_BYTES_MAX),
        }
    }

    /// # Panics
    /// If the frame is too long or the target is this node.
    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        let len = frame.len();
        assert!(len <= self.capabilities().frame_bytes_max, "frame of {len} bytes");
        let carrier = self.carrier(target).expect("messages to the own node never reach the network");
        carrier.send(target, frame)?;
        self.peers[target.index()].traffic.messages.add(len);
        Ok(())
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let mut happened = false;
        for carrier in self.carriers() {
            happened |= carrier.progress(sink);
        }
        if let Some(cma) = &self.cma {
            happened |= cma.progress(sink);
        }
        happened
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        self.transfer(get)
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        self.transfer(put)
    }

    fn view(&self, key: &RegionKey, offset: u64, len: usize) -> Result<Option<Memory>, TransferError> {
        let peer = self.peers.get(key.node.index()).ok_or(TransferError::StaleKey(key.node))?;
        let lent = match &self.shm {
            _ if key.node == self.regions.node() => copy::view(&self.regions, key, offset, len)?,
            Some(shm) if peer.mapping.load(Ordering::Relaxed) => match shm.view(key, offset, len) {
                // A get takes another path.
                Err(TransferError::Refused { .. }) => None,
                lent => lent?,
            },
            _ => None,
        };
        if lent.is_some() {
            peer.traffic.viewed.add(len);
        }
        Ok(lent)
    }

    fn arm(&self) -> bool {
        !self.take_wake_up() && self.carriers().all(|carrier| carrier.arm())
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.events.as_fd())
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.carriers().for_each(|carrier| carrier.shutdown());
    }

    fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire) && self.carriers().all(|carrier| carrier.is_closed())
    }
}
