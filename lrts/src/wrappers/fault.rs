//! Fault injection: refuses, delays, corrupts and cuts off, as a [`FaultPlan`] says; what a network does on a bad day, on any day.
//!
//! 1. What a backend may do by its contract is all that happens: no room, a late arrival, a lost peer, bytes that do not
//!    decode. The layers above must end with the right result, or with an error that names the peer.
//! 2. Arrivals keep their order. While one is held no thread sleeps; a refusal wakes sleepers.
//! 3. A peer that is cut off is told of as lost, once; then nothing of it is heard, and what is sent to it vanishes.
//!    Operations under way there end as the backend ends them; new ones fail.

use super::{FaultPlan, inner, pass_on};
use crate::ambient::clock;
use crate::error::{LrtsError, TransferError};
use crate::frame::{Channel, Frame};
use crate::ids::NodeId;
use crate::lrts::{Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::notification::Notification;
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, RegionKey};
use crate::runs::Runs;
use crate::waker::Waker;
use parking_lot::Mutex;
use rand::rngs::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};
use rustix::fd::BorrowedFd;
use std::collections::{BTreeSet, VecDeque};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Peers that are cut off.
#[derive(Default)]
struct Cut {
    peers: BTreeSet<NodeId>,
    untold: Vec<NodeId>,
}

/// A backend with faults.
pub struct Fault {
    inner: Arc<dyn Lrts>,
    plan: FaultPlan,
    chance: Mutex<ChaCha8Rng>,
    cut: Mutex<Cut>,
    /// What arrived, and when it may go on; locked by the one thread that makes progress.
    held: Mutex<VecDeque<(Instant, Notification<Vec<u8>>)>>,
    waker: Waker,
    /// Something can go on that the backend's descriptor does not tell of: a refused operation, a held arrival, an untold
    /// loss. Set by the thread that causes it, after the wake-up; cleared by progress, which takes the wake-up then.
    needs_progress: AtomicBool,
}

impl Fault {
    /// Puts the faults of `plan` around a backend of `node`.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptors.
    pub fn around(inner: Arc<dyn Lrts>, node: NodeId, plan: &FaultPlan) -> Result<Self, LrtsError> {
        // Nodes that drew alike would fail alike.
        let seed = plan.seed.rotate_left(32) ^ u64::from(node.0);
        let waker = Waker::new(inner.event_fd())?;
        Ok(Self {
            inner,
            plan: plan.clone(),
            chance: Mutex::new(ChaCha8Rng::seed_from_u64(seed)),
            cut: Mutex::default(),
            held: Mutex::default(),
            waker,
            needs_progress: AtomicBool::new(false),
        })
    }

    fn disturb(&self) {
        self.waker.wake();
        self.needs_progress.store(true, Ordering::Release);
    }

    fn strikes(&self, one_of: Option<NonZeroU32>) -> bool {
        one_of.is_some_and(|one_of| self.chance.lock().random_ratio(1, one_of.get()))
    }

    fn refuses(&self) -> bool {
        let refuses = self.strikes(self.plan.refuse);
        if refuses {
            self.disturb();
        }
        refuses
    }

    /// Whether nothing passes to or from a peer; one more chance that it is from now on.
    fn cuts(&self, peer: NodeId) -> bool {
        if self.plan.drop.is_none() {
            return false;
        }
        let strikes = self.strikes(self.plan.drop);
        let mut cut = self.cut.lock();
        if strikes && cut.peers.insert(peer) {
            cut.untold.push(peer);
            self.disturb();
        }
        cut.peers.contains(&peer)
    }

    fn is_cut(&self, peer: NodeId) -> bool {
        self.plan.drop.is_some() && self.cut.lock().peers.contains(&peer)
    }

    fn lost(&self, peer: NodeId) -> LrtsError {
        let cause = format!("`+fault {}` cut it off", self.plan);
        LrtsError::PeerLost { peer, backend: self.inner.name(), cause }
    }

    /// Posts a get, unless it is cut off or refused.
    fn pass_get(
        &self,
        get: Get,
        post: impl FnOnce(Get) -> Result<Posted, Refused<Get>>,
    ) -> Result<Posted, Refused<Get>> {
        let peer = get.key.node;
        if self.cuts(peer) {
            let result = Err(TransferError::PeerLost(peer));
            return Ok(Posted::Done(Completion { token: get.token, result, memory: Some(get.into) }));
        }
        if self.refuses() { Err(Refused(get)) } else { post(get) }
    }

    /// The same for a put.
    fn pass_put(
        &self,
        put: Put,
        post: impl FnOnce(Put) -> Result<Posted, Refused<Put>>,
    ) -> Result<Posted, Refused<Put>> {
        let peer = put.key.node;
        if self.cuts(peer) {
            let result = Err(TransferError::PeerLost(peer));
            return Ok(Posted::Done(Completion { token: put.token, result, memory: None }));
        }
        if self.refuses() { Err(Refused(put)) } else { post(put) }
    }

    /// Passes on what is due. Returns whether there was any.
    fn release(&self, held: &mut VecDeque<(Instant, Notification<Vec<u8>>)>, sink: &mut dyn Sink) -> bool {
        let mut released = false;
        while let Some((_, notification)) = held.pop_front_if(|(due, _)| *due <= clock::now()) {
            released = true;
            notification.tell(sink, |sink, source, channel, bytes| sink.frame(source, channel, bytes));
        }
        released
    }
}

impl Lrts for Fault {
    pass_on!(inner: name capabilities shutdown);

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        if self.cuts(target) {
            return Ok(());
        }
        if self.refuses() {
            return Err(NoRoom);
        }
        self.inner.send(target, frame)
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Some(mut held) = self.held.try_lock() else { return false };
        if self.needs_progress.swap(false, Ordering::AcqRel) {
            self.waker.take();
        }
        let mut happened = self.inner.progress(&mut Distorter { fault: self, held: &mut held });
        for peer in std::mem::take(&mut self.cut.lock().untold) {
            held.push_back((clock::now(), Notification::Lost(self.lost(peer))));
        }
        happened |= self.release(&mut held, sink);
        if !held.is_empty() {
            self.needs_progress.store(true, Ordering::Release);
        }
        happened
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        self.pass_get(get, |get| self.inner.get(get))
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        self.pass_put(put, |put| self.inner.put(put))
    }

    fn get_runs(&self, get: Get, runs: &Runs) -> Result<Posted, Refused<Get>> {
        self.pass_get(get, |get| self.inner.get_runs(get, runs))
    }

    fn put_runs(&self, put: Put, runs: &Runs) -> Result<Posted, Refused<Put>> {
        self.pass_put(put, |put| self.inner.put_runs(put, runs))
    }

    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        if self.is_cut(key.node) {
            return Err(TransferError::PeerLost(key.node));
        }
        self.inner.view(key, offset, len, entering)
    }

    fn claim(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        mode: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        let peer = key.node;
        if self.cuts(peer) {
            return Err(ClaimError::Failed(TransferError::PeerLost(peer)));
        }
        if self.refuses() { Err(ClaimError::Busy) } else { self.inner.claim(key, offset, len, mode) }
    }

    fn arm(&self) -> bool {
        !self.needs_progress.load(Ordering::Acquire) && self.inner.arm()
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        self.waker.events()
    }

    /// Also waits for what is held.
    fn is_closed(&self) -> bool {
        self.inner.is_closed() && self.held.try_lock().is_some_and(|held| held.is_empty())
    }
}

/// The wrapped backend's sink: keeps what arrives until it is due, and spoils some of it.
struct Distorter<'a> {
    fault: &'a Fault,
    held: &'a mut VecDeque<(Instant, Notification<Vec<u8>>)>,
}

impl Distorter<'_> {
    fn hold(&mut self, notification: Notification<Vec<u8>>) {
        let delay = self.fault.plan.delay;
        let delay = if delay.is_zero() { delay } else { delay.mul_f64(self.fault.chance.lock().random()) };
        let earliest = clock::now() + delay;
        let due = self.held.back().map_or(earliest, |(last, _)| earliest.max(*last));
        self.held.push_back((due, notification));
    }
}

impl Sink for Distorter<'_> {
    fn frame(&mut self, source: NodeId, channel: Channel, bytes: &[u8]) {
        if self.fault.cuts(source) {
            return;
        }
        let mut bytes = bytes.to_vec();
        if self.fault.strikes(self.fault.plan.corrupt) {
            self.fault.chance.lock().fill_bytes(&mut bytes);
        }
        self.hold(Notification::Frame { source, channel, message: bytes });
    }

    fn completion(&mut self, completion: Completion) {
        self.hold(Notification::Completion(completion));
    }

    fn peer_closed(&mut self, peer: NodeId) {
        if !self.fault.is_cut(peer) {
            self.hold(Notification::Closed(peer));
        }
    }

    fn peer_lost(&mut self, error: LrtsError) {
        if !error.peer().is_some_and(|peer| self.fault.is_cut(peer)) {
            self.hold(Notification::Lost(error));
        }
    }
}
