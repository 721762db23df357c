//! Reach: which path leads to which peer, as a backend made of backends, opened once at start-up (`open`). Which path it is, `paths`
//! decides alone. Never a transport of its own.
//!
//! | to | messages | get and put | view |
//! |---|---|---|---|
//! | this node | never reach the network | one copy | in place |
//! | a neighbour, shareable region | shm (or tcp) | one copy in the mapping | in place |
//! | a neighbour, other region | shm (or tcp) | CMA where the kernel allows it, else emulated | none |
//! | a node of another host | tcp | emulated | none |
//! | the same with `+ofi`, and any other node with `+lrts ofi` | ofi | one-sided if long, else emulated | none |
//! | the same with `+verbs`, and any other node with `+lrts verbs` | verbs | one-sided if long, else emulated | none |
//! | any other node with `+lrts mpi` | mpi | matched if long, else emulated | none |
//!
//! The options take rows out of the table; see [`ReachOptions`] and [`crate::backends`].
//!
//! 1. A peer's messages and emulated transfers share one backend, so it is lost or closed once.
//! 2. A transfer that a path refuses for good (the kernel denies CMA later, an arena cannot be mapped, a peer may not pin its memory) goes
//!    on by messages, and so do all later ones of that peer on that path; one warning says so.
//! 3. [`Reach::wake`] is kept until the next [`Reach::wait`] or `arm`: a wake-up is never lost.
//! 4. A long copy, over whatever path, goes on in pieces (`engine`), in [`Lrts::progress`] and [`Reach::help`]: no
//!    call takes longer than a piece.
//! 5. A transfer that another's claim is in the way of waits here until it is told that the claim has ended (`posting`).
//! 6. Memory of a device goes by one-sided access or not at all: no other path is tried.
//! 7. Memory of ended registrations is collected by the code that registered it, with [`Regions::reap`].

mod backend;
mod by_tcp;
mod choose;
mod copying;
mod fabric;
mod keeping;
mod network;
#[cfg(not(feature = "net"))]
mod no_tcp;
mod open;
mod options;
mod paths;
mod polling;
mod posting;
mod progress;
mod route;
mod runs;
#[cfg(feature = "sim")]
mod simulated;
mod traffic;
mod transfer;
mod underway;
mod waiting;

pub use crate::engine::{LONG_BYTES_MIN, PIECE_BYTES, PiecewiseCopy};
pub use options::ReachOptions;
pub use traffic::PeerUse;

use crate::ambient::clock;
use crate::cma::Cma;
use crate::emulated::Emulated;
use crate::engine::{Copies, Engine, Thresholds};
use crate::error::LrtsError;
use crate::host::{ArenaError, Arenas, HostPeers};
use crate::ids::NodeId;
use crate::lrts::Lrts;
use crate::memory::MemoryMut;
use crate::region::Regions;
use crate::shm::Shm;
use crate::waker::Waker;
use crate::wrappers::{TraceFile, Wrapped};
use by_tcp::Tcp;
use fabric::Fabric;
use keeping::Keeping;
use parking_lot::Mutex;
use route::{Carrier, Peer, Peers, Route};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use underway::UnderWay;
use waiting::Waiting;

/// The longest buffer that is allocated from arenas, which are backed at once, on a peer's word: more than most transfers, less than would
/// hurt a host.
const POOLED_BYTES_MAX: usize = 256 << 20;

/// The longest frame where no backend carries any.
const LONE_FRAME_BYTES_MAX: usize = 64 << 10;

/// Parts of a [`Reach`], as `open` opened them.
struct Parts {
    regions: Arc<Regions>,
    host_peers: Option<Arc<HostPeers>>,
    routes: Vec<Route>,
    shm: Option<Emulated<Wrapped<Shm>>>,
    tcp: Option<Emulated<Wrapped<Tcp>>>,
    fabric: Option<Box<dyn Fabric>>,
    cma: Option<Wrapped<Cma>>,
    arenas: Option<Arc<Arenas>>,
    engines: Vec<Box<dyn Engine>>,
    thresholds: Thresholds,
    trace: Option<Arc<TraceFile>>,
    warnings: Vec<String>,
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
    host_peers: Option<Arc<HostPeers>>,
    /// By node.
    peers: Peers,
    shm: Option<Emulated<Wrapped<Shm>>>,
    tcp: Option<Emulated<Wrapped<Tcp>>>,
    fabric: Option<Box<dyn Fabric>>,
    cma: Option<Wrapped<Cma>>,
    under_way: UnderWay,
    copies: Copies,
    waiting: Waiting,
    /// Where buffers live that neighbours may map, if any may.
    arenas: Option<Arc<Arenas>>,
    kept: Keeping,
    trace: Option<Arc<TraceFile>>,
    /// Whether a lack of shareable memory was told.
    told_of_arenas: AtomicBool,
    warnings: Mutex<Vec<String>>,
    waker: Arc<Waker>,
    frame_bytes_max: usize,
    closing: AtomicBool,
    /// Whether the carriers were told to shut down.
    has_left: AtomicBool,
}

impl Reach {
    fn assemble(parts: Parts) -> Result<Self, LrtsError> {
        let Parts { host_peers, shm, tcp, fabric, .. } = &parts;
        let by_tcp = tcp.as_ref().and_then(|tcp| tcp.event_fd());
        let by_shm = shm.as_ref().and_then(|shm| shm.event_fd());
        let by_fabric = fabric.as_ref().and_then(|fabric| fabric.carrier().event_fd());
        // Neighbours bring news by the doorbell, which shared memory watches where it carries messages.
        let by_host = host_peers.as_ref().filter(|_| shm.is_none()).map(|host| host.doorbell().button());
        let watched = by_tcp.into_iter().chain(by_shm).chain(by_fabric).chain(by_host);
        let waker = Waker::new(watched)?;
        Ok(Self::assemble_around(parts, waker))
    }

    fn assemble_around(parts: Parts, waker: Waker) -> Self {
        let Parts {
            regions,
            host_peers,
            routes,
            shm,
            tcp,
            fabric,
            cma,
            arenas,
            engines,
            thresholds,
            trace,
            warnings,
        } = parts;
        let waker = Arc::new(waker);
        let wakened = Arc::clone(&waker);
        regions.on_news(move || wakened.wake());
        let lengths = [
            shm.as_ref().map(|shm| shm.capabilities().frame_bytes_max),
            tcp.as_ref().map(|tcp| tcp.capabilities().frame_bytes_max),
            fabric.as_ref().map(|fabric| fabric.carrier().capabilities().frame_bytes_max),
        ];
        let frame_bytes_max = lengths.into_iter().flatten().min().unwrap_or(LONE_FRAME_BYTES_MAX);
        Self {
            regions,
            host_peers,
            peers: Peers::new(routes),
            shm,
            tcp,
            fabric,
            cma,
            under_way: UnderWay::default(),
            copies: Copies::by(engines, thresholds),
            waiting: Waiting::default(),
            arenas,
            kept: Keeping::default(),
            trace,
            told_of_arenas: AtomicBool::new(false),
            warnings: Mutex::new(warnings),
            waker,
            frame_bytes_max,
            closing: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
        }
    }

    /// This node's registered memory.
    pub fn regions(&self) -> &Arc<Regions> {
        &self.regions
    }

    /// The file of `+trace`, for the lines of the layers above.
    pub fn trace_file(&self) -> Option<&Arc<TraceFile>> {
        self.trace.as_ref()
    }

    /// Memory for buffers: where neighbours can map it, if they may, else on the heap. Its bytes are whatever they
    /// were before. Constant time, but for the first buffers and growth.
    pub fn allocate(&self, len: usize) -> MemoryMut {
        self.allocate_warm(len).unwrap_or_else(|| MemoryMut::heap_zeroed(len))
    }

    /// The same, if such memory is kept for the next of that length: where neighbours can map it, or long. Whoever uses it saves the faults of
    /// fresh memory.
    pub fn allocate_warm(&self, len: usize) -> Option<MemoryMut> {
        self.allocate_shareable(len).or_else(|| self.kept.allocate(len))
    }

    /// The same, whose bytes are zero. What lies on the heap is zero without being written.
    pub fn allocate_zeroed(&self, len: usize) -> MemoryMut {
        let shareable = self.allocate_shareable(len).map(|mut memory| {
            memory.as_mut_slice().fill(0);
            memory
        });
        shareable.unwrap_or_else(|| MemoryMut::heap_zeroed(len))
    }

    fn allocate_shareable(&self, len: usize) -> Option<MemoryMut> {
        let allocated = self.arenas.as_ref()?.allocate(len);
        allocated
            .inspect_err(|error| {
                // A neighbour that is slow to hear of an arena is nothing to tell; a lack of memory is, once.
                let is_worth_telling = !matches!(error, ArenaError::Unannounced { .. });
                if is_worth_telling && !self.told_of_arenas.swap(true, Ordering::Relaxed) {
                    self.warn(format!(
                        "a buffer of {len} bytes is not shareable, so that neighbours copy it: {error}"
                    ));
                }
            })
            .ok()
    }

    /// Has memory that neighbours can map grow by no more than so many bytes at a time, where a buffer does not need more, and no more than
    /// so many bytes kept on the heap.
    pub fn limit_growth(&self, bytes: usize) {
        self.kept.limit(bytes);
        if let Some(arenas) = &self.arenas {
            arenas.limit_growth(bytes);
        }
    }

    /// Memory for `len` bytes that a peer says it has; `None` when so much cannot be had. Beyond `POOLED_BYTES_MAX` the kernel
    /// backs it as the bytes arrive, so that a false length costs address space only.
    pub fn allocate_announced(&self, len: u64) -> Option<MemoryMut> {
        let len = usize::try_from(len).ok()?;
        if len <= POOLED_BYTES_MAX { Some(self.allocate(len)) } else { MemoryMut::try_heap_zeroed(len) }
    }

    /// Gives memory of buffers that have long been freed back to the system, and makes huge pages of what grew, one at a time, if the
    /// thread has `rested` for long enough. Returns how long until there may be more to do, if that is known.
    pub fn tidy_memory(&self, rested: Duration) -> Option<Duration> {
        let now = clock::now();
        let of_arenas = |arenas: &Arc<Arenas>| {
            arenas.give_back(now).into_iter().chain(arenas.put_together(now, rested)).min()
        };
        let of_arenas = self.arenas.as_ref().and_then(of_arenas);
        of_arenas.into_iter().chain(self.kept.give_back(now)).min()
    }

    /// Leaves a warning for [`Reach::take_warnings`].
    pub fn warn(&self, warning: String) {
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
        let Peer { messages, mapping, kernel_copy, direct, .. } = &self.peers[peer];
        let carrier = match messages {
            Carrier::Myself => return "same process: memory by memcpy".to_owned(),
            Carrier::Shm => "shm".to_owned(),
            Carrier::Tcp => {
                let guard = self.tcp.as_ref().map_or("", |tcp| tcp.inner().bare().protection(peer));
                format!("tcp{guard}")
            }
            Carrier::Fabric => self.fabric.as_ref().map_or_else(String::new, |fabric| fabric.describe()),
        };
        let own_way = self.fabric.as_ref().map_or("", |fabric| fabric.own_way());
        let mut memory = Vec::new();
        if mapping.load(Ordering::Relaxed) {
            memory.push("shared mapping".to_owned());
        }
        if kernel_copy.load(Ordering::Relaxed) {
            memory.push("CMA".to_owned());
        } else {
            if direct.load(Ordering::Relaxed) {
                memory.push(own_way.to_owned());
            }
            let name = self.carrier(peer).map_or("", Lrts::name);
            memory.push(format!("emulated over {name}"));
        }
        format!("messages by {carrier}, memory by {}", memory.join(" or "))
    }

    /// What carries out long copies: the engines in the order in which they are asked, in words.
    pub fn copy_engines(&self) -> String {
        self.copies.describe_engines()
    }

    /// Whether shareable memory of a peer's host is mapped here, and so there too: what this node reads in place, the peer
    /// can.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn maps(&self, peer: NodeId) -> bool {
        self.peers[peer].mapping.load(Ordering::Relaxed)
    }

    /// Whether the kernel copies between this node's memory and a peer's.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn copies(&self, peer: NodeId) -> bool {
        self.peers[peer].kernel_copy.load(Ordering::Relaxed)
    }

    /// Whether the network reads and writes a peer's memory by itself.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn is_one_sided(&self, peer: NodeId) -> bool {
        self.peers[peer].direct.load(Ordering::Relaxed)
    }

    /// Whether the network may reach memory of a peer's devices, from memory of this node's.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn reaches_devices(&self, peer: NodeId) -> bool {
        self.device_path(peer).is_some()
    }

    /// How the paths to a peer were used so far.
    ///
    /// # Panics
    /// If the job has no such node.
    pub fn usage(&self, peer: NodeId) -> PeerUse {
        let messages = match self.peers.carrier(peer) {
            Carrier::Myself => None,
            Carrier::Shm => self.shm.as_ref().map(|shm| shm.inner().bare().sent(peer)),
            Carrier::Tcp => self.tcp.as_ref().map(|tcp| tcp.inner().bare().sent(peer)),
            Carrier::Fabric => self.fabric.as_ref().map(|fabric| fabric.sent(peer)),
        };
        self.peers[peer].traffic.read(messages.unwrap_or_default())
    }

    /// Sleeps until something may have happened, another thread calls [`Reach::wake`], or the time is over. Returns
    /// at once when there is already something to do. For one thread at a time: a wake-up ends one wait.
    pub fn wait(&self, timeout: Option<Duration>) {
        if !self.arm() {
            return;
        }
        self.waker.sleep(timeout);
        polling::look_everywhere_next();
    }

    /// Ends the current or the next [`Reach::wait`]. One system call.
    pub fn wake(&self) {
        self.waker.wake();
    }

    /// What does as [`Reach::wake`], for a thread that must not have a share in the network, which it might be the last to drop.
    pub fn wake_from_elsewhere(&self) -> impl Fn() + Send + Sync + use<> {
        let waker = Arc::clone(&self.waker);
        move || waker.wake()
    }

    /// Lends this thread, which opened the network, to a backend that no other thread may drive, until `is_over`; returns at
    /// once where there is none such.
    pub fn attend(&self, is_over: &dyn Fn() -> bool) {
        if let Some(fabric) = &self.fabric {
            fabric.attend(is_over);
        }
    }

    /// What this node shares with its host, if no carrier watches the doorbell of it.
    fn unwatched_host(&self) -> Option<&Arc<HostPeers>> {
        self.host_peers.as_ref().filter(|_| self.shm.is_none())
    }

    /// The backend that carries a peer's messages.
    fn carrier(&self, peer: NodeId) -> Option<&dyn Lrts> {
        match self.peers.carrier(peer) {
            Carrier::Myself => None,
            Carrier::Shm => self.shm.as_ref().map(|shm| shm as &dyn Lrts),
            Carrier::Tcp => self.tcp.as_ref().map(|tcp| tcp as &dyn Lrts),
            Carrier::Fabric => self.fabric.as_ref().map(|fabric| fabric.carrier()),
        }
    }

    fn carriers(&self) -> impl Iterator<Item = &dyn Lrts> {
        let shm = self.shm.iter().map(|shm| shm as &dyn Lrts);
        let tcp = self.tcp.iter().map(|tcp| tcp as &dyn Lrts);
        shm.chain(tcp).chain(self.fabric.iter().map(|fabric| fabric.carrier()))
    }
}
