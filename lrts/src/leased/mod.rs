//! Leased access: what backends share whose networks carry messages and reach memory one-sidedly. Never a call of a network's
//! library.
//!
//! A backend of this kind (`ofi`, `verbs`) is an `Endpoint`; everything above that is here. From top to bottom:
//! `exchange` (all that a node has with its peers) uses `poster` (our gets and puts), `server` (leases we grant),
//! `registrations` (a cache), `tcp::keepalive` (who is alive) and the endpoint. Nobody sleeps where a thread drives many nodes, and their network.
//!
//! **How native access stays safe.** A network card knows no generations and no claims. So no operation touches a region
//! before its owner granted a lease: a claim, held until the poster releases it, and a key of the network for the claimed
//! range. Stale keys, ranges, rights and busy regions are judged by the owner, exactly as for an emulated transfer; what
//! a lease adds to raw access is one message each way before it and one after it. Sources are registered for
//! reading only, and a region's registration ends before its memory goes back.
//!
//! 1. Frames that the network copies out at once need nothing more, longer ones travel from a pool of buffers.
//! 2. One thread at a time uses the endpoint; nothing is called out while it does.
//! 3. A sleeper waits on the queue's descriptor where the network has one, else on a clock that ticks slower and slower, but not while a
//!    peer holds a lease here.
//! 4. Peers that die are noticed by the network or by their keepalive connections, at the latest when they are looked at: after every
//!    sleep, with every `LOOK_INTERVAL`th progress, and while the node is closing.

pub(crate) mod endpoint;
mod exchange;
mod open;
mod poster;
mod registrations;
mod server;
pub(crate) mod wire;

pub(crate) use open::Opening;

use crate::bootstrap::Bootstrap;
use crate::error::{LrtsError, TransferError};
use crate::fabric::exchange::Exchange;
use crate::fabric::pool::Pool;
use crate::fabric::remote_operation;
use crate::fabric::sleeper::Sleeper;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{
    Capabilities, Completion, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink,
};
use crate::memory::Memory;
use crate::operation::Operation;
use crate::region::{RegionKey, Regions};
use crate::runs::{Run, Runs};
#[cfg(feature = "sim")]
use crate::tcp::keepalive::standalone::Signs;
use endpoint::Endpoint;
use exchange::{LeasedExchange, Message, Notification};
use parking_lot::Mutex;
use rustix::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wire::{BUFFER_BYTES, HEADER_BYTES};

/// The longest frame, in bytes.
pub(crate) const FRAME_BYTES_MAX: usize = BUFFER_BYTES - HEADER_BYTES;

crate::knob! {
    /// Transfers shorter than this are better carried by messages: a lease costs a round trip, a copy of 32 KiB some
    /// microseconds at either end.
    pub(crate) fn lease_bytes_min() -> usize = 32 << 10, or [1, 1_000];
}

/// Regions that stay registered with the network while nobody uses them: what the smallest network cards can hold.
pub(crate) const REGISTRATIONS: usize = 1_024;

/// A thorough look is some system calls, some hundred nanoseconds each.
const LOOK_INTERVAL: u32 = 1_024;

/// State of the one thread that is in `progress`.
#[derive(Default)]
struct Turn {
    notifications: Vec<Notification>,
    read: Vec<Message>,
    rounds: u32,
}

/// One node on a network that is reached one-sidedly under leases.
pub struct Leased {
    backend: &'static str,
    regions: Arc<Regions>,
    exchange: Arc<Mutex<LeasedExchange>>,
    incoming: Arc<Pool>,
    turn: Mutex<Turn>,
    /// Where threads sleep; whoever drives the node knows by itself when something happens.
    sleeper: Option<Sleeper>,
    label: String,
    /// Whether a put can prove its delivery here; if not, it is refused.
    delivers: bool,
    reaches_devices: bool,
    closing: AtomicBool,
}

impl Leased {
    /// Opens an endpoint, which is told this node's door, and greets the peers. Collective, with peers that agree
    /// with the others': every node of the job calls it.
    ///
    /// # Errors
    /// No suitable network is here, some node has another one, or is not reached in time.
    pub(crate) fn open(
        bootstrap: &mut dyn Bootstrap,
        regions: Arc<Regions>,
        opening: &Opening<'_>,
        open_endpoint: impl FnOnce(&dyn Bootstrap, u64) -> Result<Box<dyn Endpoint>, LrtsError>,
    ) -> Result<Self, LrtsError> {
        let backend = opening.backend;
        let (exchange, sleeper) = open::open(bootstrap, &regions, opening, open_endpoint)?;
        Ok(Self::around(backend, regions, exchange, Some(sleeper)))
    }

    /// A node on a network that somebody drives, with peers whose doors it knows by their numbers.
    #[cfg(feature = "sim")]
    pub(crate) fn driven(
        backend: &'static str,
        regions: Arc<Regions>,
        endpoint: Box<dyn Endpoint>,
        signs: Box<dyn Signs>,
        nodes: u32,
    ) -> Self {
        let exchange = open::introduced(backend, &regions, endpoint, signs, (nodes, REGISTRATIONS));
        Self::around(backend, regions, exchange, None)
    }

    fn around(
        backend: &'static str,
        regions: Arc<Regions>,
        exchange: LeasedExchange,
        sleeper: Option<Sleeper>,
    ) -> Self {
        let endpoint = exchange.endpoint();
        let (label, delivers) = (endpoint.label(), endpoint.delivers());
        let reaches_devices = endpoint.reaches_devices();
        let incoming = Arc::clone(endpoint.incoming());
        let exchange = Arc::new(Mutex::new(exchange));
        let registered = Arc::downgrade(&exchange);
        regions.on_end(Box::new(move |key| {
            registered.upgrade().is_some_and(|exchange| {
                exchange.lock().region_ended((key.slot, key.generation));
                true
            })
        }));
        Self {
            backend,
            regions,
            exchange,
            incoming,
            turn: Mutex::default(),
            sleeper,
            label,
            delivers,
            reaches_devices,
            closing: AtomicBool::new(false),
        }
    }

    /// Frames that a peer was sent.
    pub fn sent(&self, peer: NodeId) -> PathUse {
        self.exchange.lock().peering().sent(peer)
    }

    /// Which of the backend's networks this node is on: a provider of libfabric, a device.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Notes that something happened.
    fn note_work(&self) {
        self.sleeper.iter().for_each(Sleeper::note_work);
    }

    fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Posts an operation on another node's memory: on all of its range, or on runs of it.
    fn post(&self, operation: Operation, runs: Runs) -> Result<Posted, Operation> {
        if self.is_closing() {
            return Err(operation);
        }
        Ok(match self.exchange.lock().post_runs(operation, runs)? {
            None => Posted::Pending,
            Some(failed) => Posted::Done(failed),
        })
    }

    fn post_whole(&self, operation: Operation) -> Result<Posted, Operation> {
        let whole = Run { at: 0, here: 0, len: operation.len };
        self.post(operation, Runs::new([whole]))
    }

    fn post_runs(&self, operation: Operation, runs: &Runs) -> Result<Posted, Operation> {
        let (have, need) = (operation.local.place().len as u64, runs.local_bytes() as u64);
        if have < need {
            return Ok(Posted::Done(operation.end(Err(TransferError::LocalTooShort { have, need }))));
        }
        self.post(operation, runs.clone())
    }

    /// The end of a put where none can prove that its bytes arrived.
    fn unproven(&self, put: &Put) -> Option<Posted> {
        let node = put.key.node;
        let refused = || {
            let cause = format!("`{}` cannot prove that a write arrived", self.label);
            let result = Err(TransferError::Refused { node, cause });
            Posted::Done(Completion { token: put.token, result, memory: None })
        };
        (node != self.regions.node() && !self.delivers).then(refused)
    }
}

impl Lrts for Leased {
    fn name(&self) -> &'static str {
        self.backend
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: true,
            put: self.delivers,
            runs: true,
            view: false,
            device: self.reaches_devices,
            immediate: false,
            frame_bytes_max: FRAME_BYTES_MAX,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        if self.is_closing() {
            return Err(NoRoom);
        }
        self.exchange.lock().send_frame(target, frame)
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Some(mut turn) = self.turn.try_lock() else { return false };
        let Turn { notifications, read, rounds } = &mut *turn;
        *rounds = rounds.wrapping_add(1);
        let (slept, closing) = (self.sleeper.as_ref().is_none_or(Sleeper::has_slept), self.is_closing());
        let mut exchange = self.exchange.lock();
        let happened = exchange.advance(closing, slept || closing || rounds.is_multiple_of(LOOK_INTERVAL));
        notifications.append(&mut exchange.peering_mut().notifications);
        drop(exchange);
        if notifications.is_empty() {
            return happened;
        }
        self.note_work();
        let losses: Vec<NodeId> = notifications.iter().filter_map(Notification::lost_peer).collect();
        for one in notifications.drain(..) {
            read.extend(one.tell(sink, |sink, source, channel, message| {
                let (_, body) = wire::Header::decode(message.bytes(&self.incoming))
                    .expect("decoded before, and nobody wrote it since");
                sink.frame(source, channel, body);
            }));
        }
        if !read.is_empty() || !losses.is_empty() {
            let mut exchange = self.exchange.lock();
            exchange.peering_mut().have_told(&losses);
            read.drain(..).for_each(|message| exchange.dispose(message));
        }
        true
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        remote_operation::get(&self.regions, get, |operation| self.post_whole(operation))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        match self.unproven(&put) {
            Some(refused) => Ok(refused),
            None => remote_operation::put(&self.regions, put, |operation| self.post_whole(operation)),
        }
    }

    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        self.post_runs(get.into(), runs).map_err(|operation| Refused(operation.into_get()))
    }

    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        match self.unproven(&put) {
            Some(refused) => Ok(refused),
            None => self.post_runs(put.into(), runs).map_err(|operation| Refused(operation.into_put())),
        }
    }

    fn view(&self, _: &RegionKey, _: u64, _: usize, _: Entering) -> Result<Option<Memory>, TransferError> {
        Ok(None)
    }

    fn arm(&self) -> bool {
        let may_sleep = || {
            let mut exchange = self.exchange.lock();
            if exchange.serves_unseen() {
                self.note_work();
            }
            let may_sleep = !exchange.needs_progress() && exchange.may_sleep();
            may_sleep.then(|| exchange.watches_clock() || self.is_closing())
        };
        match &self.sleeper {
            Some(sleeper) => sleeper.arm(may_sleep),
            None => may_sleep() == Some(false),
        }
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.sleeper.as_ref()?.event_fd())
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.exchange.lock().close();
    }

    fn is_closed(&self) -> bool {
        self.is_closing() && self.exchange.lock().is_closed()
    }
}
