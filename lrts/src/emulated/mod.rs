//! Emulated get and put: the half of the contract that a network without one-sided access lacks, made of its `send`, once for all.
//! Never a system call or a foreign function.
//!
//! Wraps a backend that carries messages. Frames of the runtime pass through; `Channel::Emulated` carries
//! requests, chunks and answers (`wire`). For each peer there are two halves, what we posted (`poster`) and
//! what we serve (`server`), and one queue of what waits to go out (`outgoing`).
//!
//! 1. Nothing blocks: frames that the wrapped backend has no room for are kept and sent by a later progress. Data are never
//!    copied on their way out: chunks leave from the memory they are in. Where the wrapped backend can, they arrive in the memory
//!    that they are for (`stream`).
//! 2. A progress sends a bounded number of frames to each peer; operations of one peer take turns.
//! 3. The target's range stays claimed from the first byte to the last, as with one-sided access.
//! 4. Frames are handed to the wrapped backend under the peer's lock, by whichever thread; that they arrive in this order is the contract of
//!    [`Channel::Emulated`](crate::Channel::Emulated). A chunk that comes out of order is a breach.
//! 5. A breach makes the peer lost: its operations complete, its claims end, and nothing it sends is read again.
//! 6. `shutdown` lets open operations finish and only then says goodbye, since a node that has
//!    said goodbye answers no more. Requests that wait for a busy range are given up.

pub(crate) mod needs_progress;
mod outgoing;
mod poster;
mod reader;
mod server;
mod stream;
mod talk;
pub(crate) mod wire;

use crate::error::TransferError;
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memcpy::copy;
use crate::memory::Memory;
use crate::region::{RegionKey, Regions};
use reader::Reader;
use rustix::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use talk::{Talk, Talks};
use wire::HEADER_BYTES_MAX;

crate::knob! {
    /// Data in one frame. Over loopback TCP, 16 MiB take 2.7 ms in chunks of 128 KiB, 2.3 in chunks of 512 KiB and 2.1 in chunks of 1 MiB; a message
    /// between two chunks waits as long as one of them takes, 50 microseconds there.
    fn chunk_bytes_max() -> usize = 512 << 10, or [128, 1_000];
}

/// A backend with get and put made of its `send`.
pub struct Emulated<L> {
    inner: L,
    regions: Arc<Regions>,
    talks: Talks,
    closing: AtomicBool,
    said_goodbye: AtomicBool,
}

impl<L: Lrts> Emulated<L> {
    /// Adds get and put to `inner`, for a job of `nodes` nodes. All nodes of the job must wrap alike.
    ///
    /// # Panics
    /// If `inner` carries no messages, or none of at least 256 bytes.
    pub fn new(inner: L, regions: Arc<Regions>, nodes: u32) -> Self {
        let frame_bytes_max = inner.capabilities().frame_bytes_max;
        assert!(frame_bytes_max >= 256, "{} carries frames of {frame_bytes_max} bytes", inner.name());
        let chunk_bytes_max = chunk_bytes_max().min(frame_bytes_max - HEADER_BYTES_MAX);
        let talks = Talks::new(nodes, Arc::clone(&regions), chunk_bytes_max);
        Self { inner, regions, talks, closing: AtomicBool::new(false), said_goodbye: AtomicBool::new(false) }
    }

    /// The wrapped backend.
    pub fn inner(&self) -> &L {
        &self.inner
    }

    fn reader<'a>(&'a self, sink: &'a mut dyn Sink) -> Reader<'a> {
        Reader { talks: &self.talks, inner: &self.inner, sink }
    }

    /// Opens an operation at the node a key names, under that peer's lock, and starts sending it.
    fn post<O>(
        &self,
        node: NodeId,
        operation: O,
        open: impl FnOnce(&mut Talk, O) -> Result<(), Refused<O>>,
        fail: impl FnOnce(O, TransferError) -> Completion,
    ) -> Result<Posted, Refused<O>> {
        let Some(peer) = self.talks.with(node) else {
            return Ok(Posted::Done(fail(operation, TransferError::StaleKey(node))));
        };
        let mut talk = peer.talk.lock();
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(operation));
        }
        if !self.talks.is_open(node) {
            return Ok(Posted::Done(fail(operation, TransferError::PeerLost(node))));
        }
        open(&mut talk, operation)?;
        peer.needs_progress.announce();
        talk.push_out(node, &self.inner);
        peer.note(&talk);
        Ok(Posted::Pending)
    }

    /// Sends and claims what waits, for every peer. Returns whether anything went on.
    fn push_out(&self) -> bool {
        let mut happened = false;
        let closing = self.closing.load(Ordering::Acquire);
        for (node, peer) in self.talks.all() {
            // Who closes gives up what waits, of which there are no news.
            if !closing && !peer.needs_progress.is_set(|| self.regions.news()) {
                continue;
            }
            let talk = peer.talk.try_lock();
            peer.needs_progress.come_by(talk.is_none());
            if let Some(mut talk) = talk {
                let Talk { server, outgoing, .. } = &mut *talk;
                happened |= server.retry(closing, outgoing);
                happened |= talk.push_out(node, &self.inner) > 0;
                peer.note(&talk);
            }
        }
        happened
    }

    /// Says goodbye once nothing is open.
    fn close_when_idle(&self) {
        if self.closing.load(Ordering::Acquire)
            && !self.said_goodbye.load(Ordering::Acquire)
            && self.talks.all().all(|(_, peer)| peer.talk.lock().is_idle())
            && !self.said_goodbye.swap(true, Ordering::AcqRel)
        {
            self.inner.shutdown();
        }
    }
}

fn get_failed(get: Get, error: TransferError) -> Completion {
    Completion { token: get.token, result: Err(error), memory: Some(get.into) }
}

fn put_failed(put: Put, error: TransferError) -> Completion {
    Completion { token: put.token, result: Err(error), memory: None }
}

impl<L: Lrts> Lrts for Emulated<L> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self) -> Capabilities {
        let inner = self.inner.capabilities();
        Capabilities { get: true, put: true, runs: false, device: false, immediate: false, ..inner }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        if self.closing.load(Ordering::Acquire) {
            return Err(NoRoom);
        }
        self.inner.send(target, frame)
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let arrived = self.inner.progress(&mut self.reader(sink));
        let sent = self.push_out();
        self.close_when_idle();
        arrived || sent
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        if get.key.node == self.regions.node() {
            return copy::get(&self.regions, get);
        }
        if let Err(error) = copy::local_room(&get) {
            return Ok(Posted::Done(get_failed(get, error)));
        }
        let open = |talk: &mut Talk, get| talk.poster.get(get, &mut talk.outgoing);
        self.post(get.key.node, get, open, get_failed)
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        if put.key.node == self.regions.node() {
            return copy::put(&self.regions, put);
        }
        let open = |talk: &mut Talk, put| talk.poster.put(put, &mut talk.outgoing);
        self.post(put.key.node, put, open, put_failed)
    }

    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        if key.node == self.regions.node() {
            return copy::view(&self.regions, key, offset, len);
        }
        self.inner.view(key, offset, len, entering)
    }

    /// As the wrapped backend; also `false` while a range that waited for its claim can be tried again, and while there are frames that
    /// nobody has tried to send.
    fn arm(&self) -> bool {
        let at_rest =
            !self.talks.all().any(|(_, peer)| peer.needs_progress.forbids_sleep(|| self.regions.news()));
        let closing = self.closing.load(Ordering::Acquire) && !self.said_goodbye.load(Ordering::Acquire);
        at_rest && !closing && self.inner.arm()
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        self.inner.event_fd()
    }

    fn shutdown(&self) {
        self.closing.store(true, Ordering::Release);
        self.close_when_idle();
    }

    fn is_closed(&self) -> bool {
        self.said_goodbye.load(Ordering::Acquire) && self.inner.is_closed()
    }
}
