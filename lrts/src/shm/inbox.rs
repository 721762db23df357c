//! Inbox: the reading ends of all rings.
//!
//! 1. Any thread looks whether a record waits, without a lock: idle threads that poll share the headers' cache lines and
//!    disturb nobody. A thread that finds a record takes the lock and reads; one that finds the lock taken leaves.
//! 2. The fates of the neighbours are looked at only after their links were read; one whose ring is wrong is lost at once.
//! 3. `arm` asks all writers to ring; the first progress after it takes that back.

use super::cursor;
use super::ring::{Reader, RecordKind};
use crate::error::LrtsError;
use crate::host::{Fate, HostPeer, HostPeers, ring_doorbell};
use crate::lrts::Sink;
use crate::peer_state::PeerState;
use crate::sync::spin_lock::SpinMutex;
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The backend's name.
pub(super) const BACKEND: &str = "shm";

/// Looks at the rings between two looks at the clock that tells when the links are due: it costs more than a ring.
const LOOKS_PER_CLOCK: u32 = 16;

/// State of the one thread that reads.
struct Desk {
    /// By the neighbours' positions.
    states: Vec<PeerState>,
    /// Where a frame is copied before anybody looks at it.
    scratch: Box<[u8]>,
    /// Whether `arm` was called since the last progress.
    armed: bool,
    /// Whether the fates of the neighbours have to be looked at.
    suspicious: bool,
}

/// The reading ends of all rings, and the state of the thread that reads.
pub(super) struct Inbox {
    /// By the neighbours' positions.
    readers: Vec<Reader>,
    desk: SpinMutex<Desk>,
    /// Whether the desk wants a progress even if no record waits. Written under the lock.
    wants_progress: AtomicBool,
}

impl Inbox {
    pub(super) fn new(readers: Vec<Reader>, frame_bytes_max: usize) -> Self {
        let states = vec![PeerState::Open; readers.len()];
        let scratch = vec![0; frame_bytes_max].into_boxed_slice();
        let desk = SpinMutex::new(Desk { states, scratch, armed: false, suspicious: false });
        Self { readers, desk, wants_progress: AtomicBool::new(false) }
    }

    /// Reads what waits and reports who is gone. Returns whether anything happened. One look at each ring if nothing waits.
    pub(super) fn progress(&self, host_peers: &HostPeers, sink: &mut dyn Sink) -> bool {
        let is_quiet =
            !self.wants_progress.load(Ordering::Relaxed) && !self.readers.iter().any(Reader::has_record);
        let is_clock_due = is_clock_due();
        if is_quiet && !is_clock_due {
            return false;
        }
        let Some(mut desk) = self.desk.try_lock() else { return false };
        let desk = &mut *desk;
        let judges = self.attend_links(desk, host_peers, is_clock_due);
        let mut happened = false;
        for (position, (reader, neighbour)) in self.readers.iter().zip(host_peers.neighbours()).enumerate() {
            if desk.states[position] != PeerState::Open || !reader.has_record() {
                continue;
            }
            happened = true;
            if let Err(cause) = drain(neighbour, reader, &mut desk.states[position], &mut desk.scratch, sink)
            {
                // Told here, with its cause: the fate of a neighbour that is gone is decided already.
                neighbour.condemn(Fate::Broken { what: "frame", cause: cause.clone() });
                if desk.states[position] == PeerState::Open {
                    desk.states[position] = PeerState::Lost;
                    let peer = neighbour.node();
                    sink.peer_lost(LrtsError::Protocol { peer, backend: BACKEND, what: "frame", cause });
                }
            }
        }
        if judges || desk.suspicious {
            desk.suspicious = false;
            happened |= self.judge(desk, host_peers, sink);
        }
        happened
    }

    /// Looks after the links when the clock says so, or when the doorbell may have told of them. Returns whether the fates
    /// of the neighbours may have changed.
    fn attend_links(&self, desk: &mut Desk, host_peers: &HostPeers, is_clock_due: bool) -> bool {
        self.wants_progress.store(false, Ordering::Relaxed);
        if !std::mem::take(&mut desk.armed) {
            return is_clock_due && host_peers.read_links_if_due();
        }
        self.readers.iter().for_each(Reader::wake_up);
        host_peers.doorbell().silence();
        host_peers.read_links();
        true
    }

    /// Reports neighbours that are gone and whose rings are read to the end, and those that broke the protocol.
    fn judge(&self, desk: &mut Desk, host_peers: &HostPeers, sink: &mut dyn Sink) -> bool {
        let mut happened = false;
        for (position, (reader, neighbour)) in self.readers.iter().zip(host_peers.neighbours()).enumerate() {
            let is_lost = match neighbour.fate() {
                None => false,
                // All that a dead neighbour wrote is there by now.
                Some(Fate::Gone) => !reader.has_record(),
                Some(Fate::Broken { .. }) => true,
            };
            if is_lost && desk.states[position] == PeerState::Open {
                desk.states[position] = PeerState::Lost;
                sink.peer_lost(neighbour.loss(BACKEND));
                happened = true;
            }
        }
        happened
    }

    /// Asks to be rung for. Returns `false` when there is something to do already.
    pub(super) fn arm(&self, host_peers: &HostPeers) -> bool {
        // Somebody else makes progress: there is something to do.
        let Some(mut desk) = self.desk.try_lock() else { return false };
        self.readers.iter().for_each(Reader::fall_asleep);
        cursor::settle();
        self.wants_progress.store(true, Ordering::Relaxed);
        let has_work = |(position, neighbour): (usize, &Arc<HostPeer>)| {
            desk.states[position] == PeerState::Open
                && (self.readers[position].has_record() || neighbour.fate().is_some())
        };
        if host_peers.neighbours().iter().enumerate().any(has_work) {
            self.readers.iter().for_each(Reader::wake_up);
            desk.suspicious = true;
            return false;
        }
        desk.armed = true;
        true
    }

    /// Whether every neighbour is lost, or has said goodbye and, as `heard_ours` tells, has heard ours.
    pub(super) fn is_closed(&self, heard_ours: impl Fn(usize) -> bool) -> bool {
        let Some(desk) = self.desk.try_lock() else { return false };
        desk.states.iter().enumerate().all(|(position, state)| match state {
            PeerState::Open => false,
            PeerState::Closed => heard_ours(position),
            PeerState::Lost => true,
        })
    }
}

/// Delivers the records that wait, at most a ring full of them, so that every neighbour has its turn.
fn drain(
    neighbour: &HostPeer,
    reader: &Reader,
    state: &mut PeerState,
    scratch: &mut [u8],
    sink: &mut dyn Sink,
) -> Result<(), String> {
    let (mut read, mut waits) = (0, true);
    while waits
        && read < reader.lines()
        && let Some((kind, len, lines)) = reader.pop(scratch)?
    {
        if *state == PeerState::Closed {
            return Err("a frame after the goodbye".to_owned());
        }
        read += lines;
        // Before the frame is looked at: the next header comes from the writer's cache while this frame is delivered.
        waits = reader.has_record();
        match kind {
            RecordKind::Frame(channel) => sink.frame(neighbour.node(), channel, &scratch[..len]),
            RecordKind::Goodbye => {
                *state = PeerState::Closed;
                sink.peer_closed(neighbour.node());
            }
        }
    }
    if reader.is_awaited() {
        ring_doorbell(neighbour.doorbell());
    }
    Ok(())
}

/// Every so often, for each thread that looks.
fn is_clock_due() -> bool {
    thread_local! {
        static LOOKS: Cell<u32> = const { Cell::new(0) };
    }
    let looks = LOOKS.get().wrapping_add(1);
    LOOKS.set(looks);
    looks.is_multiple_of(LOOKS_PER_CLOCK)
}
