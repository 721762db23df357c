//! MPI: the backend over any MPI, with messages of one tag and long transfers as matched messages with a tag each. Never a window
//! and never a collective.
//!
//! The library is loaded at run time (`chare_mpi_sys`); [`start`](mod@start) says which, and starts it. From top to bottom:
//! `exchange` (all that a node has with its peers) uses `poster` (our gets and puts), `server` (those of peers, here), `flow`
//! (the bytes of one transfer) and `endpoint` (messages). No windows and no collectives: nothing but `MPI_Isend`,
//! `MPI_Irecv` and `MPI_Test`.
//!
//! **How memory stays safe.** The owner of a region takes part in every transfer: it judges key, range and rights, claims the
//! range, and then sends or receives, from or into that memory. Nobody reaches it without that.
//!
//! 1. One thread at a time uses the endpoint. What MPI's threads may do decides which (`callers`): any, or the one that
//!    initialised MPI; the others leave messages and take notifications, and that one must [`attend`](Mpi::attend). A look that finds
//!    nothing takes one lock: a thread that waits for a message waits for half a look more, on average.
//! 2. MPI has no descriptor to wait on: a sleeper looks every now and then, while something is under way every 50 us.
//! 3. Peers that die are noticed by their keepalive connections, at the latest when they are looked at: after every sleep, and
//!    with every 1,024th progress. MPIs themselves end all processes of a job, or say nothing.
//! 4. A process that MPI or its launcher ends says so (`bootstrap::managed::mpi::final_error`).
//! 5. Errors come back as values (`MPI_ERRORS_RETURN`), and name the peer as far as MPI knows whose they are.

#![expect(clippy::disallowed_methods, reason = "a thread of its own waits in MPI, in real time")]

mod callers;
mod endpoint;
mod exchange;
mod flow;
mod open;
mod poster;
mod server;
mod wire;

pub use crate::bootstrap::managed::mpi::start;
pub use chare_mpi_sys::{Communicator, Threads};
pub use flow::Process;

use crate::bootstrap::Bootstrap;
use crate::error::{LrtsError, TransferError};
use crate::fabric::exchange::Exchange;
use crate::fabric::pool::{Arrival, Pool};
use crate::fabric::remote_operation;
use crate::fabric::sleeper::Sleeper;
use crate::fabric::wire::{BUFFER_BYTES, HEADER_BYTES, Header};
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::operation::Operation;
use crate::region::{RegionKey, Regions};
use callers::Callers;
use exchange::{MatchedExchange, Notification};
use parking_lot::Mutex;
use rustix::fd::BorrowedFd;
use start::BACKEND;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The longest frame, in bytes.
pub(crate) const FRAME_BYTES_MAX: usize = BUFFER_BYTES - HEADER_BYTES;

/// Transfers shorter than this are better carried by messages: a matched one costs a round trip more, a copy of 32 KiB some
/// microseconds at either end.
pub(crate) const MATCHED_BYTES_MIN: usize = 32 << 10;

/// How long a thread that attends goes on looking when nothing happens: as long as an idle PE.
const SPIN: Duration = Duration::from_micros(200);

/// Pauses between two of its looks, together about as long as a look.
const PAUSES: u32 = 16;

/// How long it naps after that, unless it is woken by another thread: messages from elsewhere wake nobody.
const NAP: Duration = Duration::from_millis(1);

/// State of the one thread that delivers.
#[derive(Default)]
struct Turn {
    notifications: Vec<Notification>,
    read: Vec<Arrival>,
}

/// One node's endpoint.
pub struct Mpi {
    regions: Arc<Regions>,
    exchange: Mutex<MatchedExchange>,
    incoming: Arc<Pool>,
    turn: Mutex<Turn>,
    sleeper: Sleeper,
    callers: Callers,
    description: String,
    closing: AtomicBool,
}

impl Mpi {
    /// Opens an endpoint at this node's process and meets `peers`, within `patience` after all nodes have published where they
    /// are. Collective, with peers that agree with the others': every node of the job calls it.
    ///
    /// `processes` are all nodes', in their order. Several nodes may share a process, if MPI grants
    /// [`Threads::Multiple`] and each has a communicator of its own.
    ///
    /// # Errors
    /// This thread may not call MPI, MPI fails, or a node is not reached in time.
    pub fn open(
        bootstrap: &mut dyn Bootstrap,
        peers: &[NodeId],
        regions: Arc<Regions>,
        processes: &[Process],
        patience: Duration,
    ) -> Result<Self, LrtsError> {
        let (exchange, callers, sleeper) = open::open(bootstrap, peers, &regions, processes, patience)?;
        let library = processes[bootstrap.node().index()].communicator.library();
        if let Some(thread) = callers.only().cloned() {
            regions.on_news(move || thread.unpark());
        }
        Ok(Self {
            regions,
            incoming: Arc::clone(exchange.incoming()),
            exchange: Mutex::new(exchange),
            turn: Mutex::default(),
            sleeper,
            callers,
            description: start::describe(library),
            closing: AtomicBool::new(false),
        })
    }

    /// Frames that a peer was sent.
    pub fn sent(&self, peer: NodeId) -> PathUse {
        self.exchange.lock().peering().sent(peer)
    }

    /// Which MPI it is: what it calls itself, its ABI, and what threads may do.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Drives the endpoint until `is_over`, where MPI lets nobody do it but this thread; returns at once where any may.
    pub fn attend(&self, is_over: &dyn Fn() -> bool) {
        let (Some(_), Some(ticket)) = (self.callers.only(), self.callers.ticket()) else { return };
        let mut idle_since = Instant::now();
        while !is_over() {
            let slept = idle_since.elapsed() > SPIN;
            if self.exchange.lock().advance(self.is_closing(), slept, ticket) {
                idle_since = Instant::now();
            } else if slept {
                std::thread::park_timeout(NAP);
            } else {
                // Others must find the lock free.
                (0..PAUSES).for_each(|_| std::hint::spin_loop());
            }
        }
    }

    /// Wakes the thread that attends, if there is one and this is another.
    fn wake_attendant(&self) {
        if let Some(thread) = self.callers.only() {
            thread.unpark();
        }
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Posts an operation on another node's memory.
    fn post(&self, operation: Operation) -> Result<Posted, Operation> {
        if self.is_closing() {
            return Err(operation);
        }
        let posted = self.exchange.lock().post_whole(operation, self.callers.ticket())?;
        self.wake_attendant();
        Ok(posted.map_or(Posted::Pending, Posted::Done))
    }
}

impl Lrts for Mpi {
    fn name(&self) -> &'static str {
        BACKEND
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: true,
            put: true,
            runs: false,
            view: false,
            device: false,
            immediate: false,
            frame_bytes_max: FRAME_BYTES_MAX,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        if self.is_closing() {
            return Err(NoRoom);
        }
        let sent = self.exchange.lock().send(target, frame, self.callers.ticket());
        self.wake_attendant();
        sent
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        if self.turn.is_locked() {
            return false;
        }
        let (slept, closing) = (self.sleeper.has_slept(), self.is_closing());
        let mut exchange = self.exchange.lock();
        let ticket = self.callers.ticket();
        let happened = ticket.is_some_and(|ticket| exchange.advance(closing, slept, ticket));
        if exchange.peering().notifications.is_empty() {
            return happened;
        }
        let Some(mut turn) = self.turn.try_lock() else { return happened };
        let Turn { notifications, read } = &mut *turn;
        notifications.append(&mut exchange.peering_mut().notifications);
        drop(exchange);
        self.sleeper.note_work();
        let losses: Vec<NodeId> = notifications.iter().filter_map(Notification::lost_peer).collect();
        for one in notifications.drain(..) {
            read.extend(one.tell(sink, |sink, source, channel, message| {
                let (_, body) = Header::decode(self.incoming.bytes(message))
                    .expect("decoded before, and nobody wrote it since");
                sink.frame(source, channel, body);
            }));
        }
        let mut exchange = self.exchange.lock();
        exchange.peering_mut().have_told(&losses);
        exchange.give_back(read);
        true
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        remote_operation::get(&self.regions, get, |operation| self.post(operation))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        remote_operation::put(&self.regions, put, |operation| self.post(operation))
    }

    fn view(&self, _: &RegionKey, _: u64, _: usize, _: Entering) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    fn arm(&self) -> bool {
        self.sleeper.arm(|| {
            let exchange = self.exchange.lock();
            // What is being read is to be posted again.
            let may_sleep = !exchange.needs_progress() && !self.turn.is_locked();
            may_sleep.then(|| exchange.watches_clock() || self.is_closing())
        })
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.sleeper.event_fd())
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.exchange.lock().say_goodbyes();
    }

    fn is_closed(&self) -> bool {
        self.is_closing() && self.exchange.lock().is_closed()
    }
}
