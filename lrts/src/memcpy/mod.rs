//! Memcpy: the backend between nodes of one process. Frames pass through queues, get and put are one copy, views are free. Never a
//! mapping or a socket.
//!
//! 1. A frame is copied into the lane of its pair of nodes and dropped once the sink has read it.
//! 2. A get or put claims the target's region and copies before it returns.
//! 3. A node that shuts down is closed to the others after its last frame; one that is dropped
//!    without shutting down is lost.

pub(crate) mod copy;
mod hub;

pub use hub::Hub;

use crate::error::{LrtsError, TransferError};
use crate::frame::Frame;
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Completion, Entering, Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::peer_state::PeerState;
use crate::region::{RegionKey, Regions};
use hub::{QueuedFrame, Station};
use parking_lot::{Mutex, RwLock};
use rustix::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The longest frame: the same order as the other backends', so that programs behave alike over each.
const FRAME_BYTES_MAX: usize = 1 << 20;

/// Frames taken from one lane before the next has its turn.
const LANE_BUDGET: usize = 32;

/// One node's endpoint at a [`Hub`].
pub struct Memcpy {
    hub: Arc<Hub>,
    node: NodeId,
    /// By node: whether its departure was reported. Held by the thread that makes progress.
    reported: Mutex<Vec<bool>>,
    departed: AtomicUsize,
    is_closing: RwLock<bool>,
}

impl Memcpy {
    /// Opens the endpoint of the node whose regions these are.
    ///
    /// # Panics
    /// If the hub has no such node or its endpoint was opened before.
    pub fn open(hub: &Arc<Hub>, regions: Arc<Regions>) -> Self {
        let node = regions.node();
        let vacant = hub.stations[node.index()].regions.set(regions).is_ok();
        assert!(vacant, "{node} is already open");
        let mut reported = vec![false; hub.stations.len()];
        reported[node.index()] = true;
        Self {
            hub: Arc::clone(hub),
            node,
            reported: Mutex::new(reported),
            departed: AtomicUsize::new(0),
            is_closing: RwLock::new(false),
        }
    }

    fn station(&self) -> &Station {
        &self.hub.stations[self.node.index()]
    }

    /// The regions of the node a key names: `Ok(None)` before that node has opened.
    fn regions(&self, key: &RegionKey) -> Result<Option<&Arc<Regions>>, TransferError> {
        let target = self.hub.stations.get(key.node.index()).ok_or(TransferError::StaleKey(key.node))?;
        match self.station().inbound[key.node.index()].state() {
            PeerState::Lost => Err(TransferError::PeerLost(key.node)),
            PeerState::Open | PeerState::Closed => Ok(target.regions.get()),
        }
    }

    fn report(&self, source: NodeId, state: PeerState, sink: &mut dyn Sink) {
        self.departed.fetch_add(1, Ordering::AcqRel);
        match state {
            PeerState::Lost => sink.peer_lost(LrtsError::PeerLost {
                peer: source,
                backend: self.name(),
                cause: "its endpoint was dropped before it shut down".to_owned(),
            }),
            PeerState::Open | PeerState::Closed => sink.peer_closed(source),
        }
    }
}

impl Lrts for Memcpy {
    fn name(&self) -> &'static str {
        "memcpy"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            messages: true,
            get: true,
            put: true,
            runs: false,
            view: true,
            device: false,
            immediate: true,
            frame_bytes_max: FRAME_BYTES_MAX,
        }
    }

    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        let is_closing = self.is_closing.read();
        if *is_closing {
            return Err(NoRoom);
        }
        if self.hub.lane(target, self.node).state() == PeerState::Lost {
            // `peer_lost` has named or will name the target.
            return Ok(());
        }
        let lane = self.hub.lane(self.node, target);
        let waiting = QueuedFrame { channel: frame.channel, bytes: frame.to_vec() };
        if let Err(waiting) = lane.frames.push(waiting) {
            lane.starved.store(true, Ordering::SeqCst);
            // The reader may have made room, and looked, before it was told.
            lane.frames.push(waiting).map_err(|_| NoRoom)?;
        }
        self.hub.stations[target.index()].bell.ring();
        Ok(())
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Some(mut reported) = self.reported.try_lock() else { return false };
        let mut happened = false;
        for (index, lane) in self.station().inbound.iter().enumerate() {
            let source = NodeId(index as u32);
            let state = lane.state();
            let mut budget = LANE_BUDGET;
            while let Some(frame) = (budget > 0).then(|| lane.frames.pop()).flatten() {
                sink.frame(source, frame.channel, &frame.bytes);
                budget -= 1;
            }
            happened |= budget < LANE_BUDGET;
            if budget < LANE_BUDGET && lane.starved.load(Ordering::SeqCst) {
                self.hub.stations[index].bell.ring();
            }
            if state != PeerState::Open && budget > 0 && !reported[index] {
                reported[index] = true;
                happened = true;
                self.report(source, state, sink);
            }
        }
        happened
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        match self.regions(&get.key) {
            _ if *self.is_closing.read() => Err(Refused(get)),
            Ok(None) => Err(Refused(get)),
            Ok(Some(regions)) => copy::get(regions, get),
            Err(error) => {
                Ok(Posted::Done(Completion { token: get.token, result: Err(error), memory: Some(get.into) }))
            }
        }
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        match self.regions(&put.key) {
            _ if *self.is_closing.read() => Err(Refused(put)),
            Ok(None) => Err(Refused(put)),
            Ok(Some(regions)) => copy::put(regions, put),
            Err(error) => Ok(Posted::Done(Completion { token: put.token, result: Err(error), memory: None })),
        }
    }

    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        _entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        match self.regions(key)? {
            None => Ok(None),
            Some(regions) => copy::view(regions, key, offset, len),
        }
    }

    fn arm(&self) -> bool {
        self.station().bell.arm();
        let Some(reported) = self.reported.try_lock() else { return false };
        let has_room_again = self.hub.stations.iter().any(|station| {
            let lane = &station.inbound[self.node.index()];
            lane.starved.load(Ordering::SeqCst)
                && !lane.frames.is_full()
                && lane.starved.swap(false, Ordering::SeqCst)
        });
        if has_room_again {
            return false;
        }
        self.station()
            .inbound
            .iter()
            .zip(&*reported)
            .all(|(lane, reported)| lane.frames.is_empty() && (*reported || lane.state() == PeerState::Open))
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.station().bell.event_fd())
    }

    fn shutdown(&self) {
        // No thread sends meanwhile: a node that is closed to the others has sent its last frame.
        let mut is_closing = self.is_closing.write();
        if !std::mem::replace(&mut *is_closing, true) {
            self.hub.depart(self.node, PeerState::Closed);
        }
    }

    fn is_closed(&self) -> bool {
        *self.is_closing.read() && self.departed.load(Ordering::Acquire) + 1 == self.hub.stations.len()
    }
}

impl Drop for Memcpy {
    fn drop(&mut self) {
        if !*self.is_closing.get_mut() {
            self.hub.depart(self.node, PeerState::Lost);
        }
    }
}
