//! Hub: what the nodes of one process share, which are a lane of frames for each ordered pair, a bell and the regions of each node.

use crate::frame::Channel;
use crate::ids::NodeId;
use crate::peer_state::PeerState;
use crate::region::Regions;
use crate::sync::bell::Bell;
use crossbeam_queue::ArrayQueue;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Frames that wait in one lane before its sender is refused.
const LANE_FRAMES: usize = 64;

/// A frame that its reader has not seen yet.
pub(super) struct QueuedFrame {
    pub(super) channel: Channel,
    pub(super) bytes: Vec<u8>,
}

/// The frames from one node to another.
pub(super) struct Lane {
    pub(super) frames: ArrayQueue<QueuedFrame>,
    /// Whether a thread of the sender was refused, and the sending node has not found room since, before it slept. Until then the reader
    /// rings whenever it makes room: a bell that nobody has armed yet tells nobody.
    pub(super) starved: AtomicBool,
    /// Written by the sending node, after its last frame; the reader loads it before it looks for frames.
    state: AtomicU8,
}

impl Lane {
    fn new() -> Self {
        Self {
            frames: ArrayQueue::new(LANE_FRAMES),
            starved: AtomicBool::new(false),
            state: AtomicU8::new(PeerState::Open as u8),
        }
    }

    pub(super) fn state(&self) -> PeerState {
        match self.state.load(Ordering::Acquire) {
            0 => PeerState::Open,
            1 => PeerState::Closed,
            _ => PeerState::Lost,
        }
    }
}

/// One node's place in the hub.
pub(super) struct Station {
    /// Set once, when the node opens its endpoint.
    pub(super) regions: OnceLock<Arc<Regions>>,
    pub(super) bell: Bell,
    /// By source.
    pub(super) inbound: Vec<Lane>,
}

/// The meeting place of all nodes of one process. Each opens one [`super::Memcpy`] on it.
pub struct Hub {
    pub(super) stations: Vec<Station>,
}

impl Hub {
    /// A hub for `nodes` nodes. Takes one descriptor per node.
    ///
    /// # Errors
    /// The kernel's, when it grants no descriptor.
    pub fn new(nodes: u32) -> io::Result<Arc<Self>> {
        let station = |_| {
            Ok(Station {
                regions: OnceLock::new(),
                bell: Bell::new()?,
                inbound: (0..nodes).map(|_| Lane::new()).collect(),
            })
        };
        Ok(Arc::new(Self { stations: (0..nodes).map(station).collect::<io::Result<_>>()? }))
    }

    pub(super) fn lane(&self, source: NodeId, target: NodeId) -> &Lane {
        &self.stations[target.index()].inbound[source.index()]
    }

    /// Tells every node that `source` sends no more.
    pub(super) fn depart(&self, source: NodeId, state: PeerState) {
        for station in &self.stations {
            station.inbound[source.index()].state.fetch_max(state as u8, Ordering::AcqRel);
            station.bell.ring();
        }
    }
}
