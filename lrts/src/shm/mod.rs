//! Shm: the backend between nodes of one host. Frames go through rings that both map, get and put are one copy, views are free.
//! Never reaches memory that is not shareable.
//!
//! 1. Every ordered pair of nodes has one ring (`ring`). The writing end is shared by the threads of a node under a
//!    short lock; the reading ends belong to the thread that is in `progress`.
//! 2. A region in an arena of a neighbour is reached through our mapping of the arena, under a claim on the
//!    neighbour's board. Other memory is not reached by this backend: [`Shm::reaches`] tells.
//! 3. **Sleeping.** `arm` says so in each ring to read; the writer of a record then rings the doorbell (`cursor`).
//!    The first progress after it takes that back. One ring may wake several threads, and
//!    one progress ends the sleep of the node: a thread that goes on sleeping must arm again.
//! 4. **End.** A goodbye is the last record of a ring. A neighbour whose link ends before it is lost; its ring is
//!    read to the end first. A neighbour that breaks the protocol is lost at once. To either, frames
//!    are accepted and dropped: `peer_lost` tells.

pub(crate) mod cursor;
mod inbox;
mod mapped_range;
mod ring;

use crate::error::TransferError;
use crate::frame::{Channel, Frame};
use crate::host::{Fate, HostPeers, PeerClaim, Rings, get_by, put_by, ring_doorbell};
use crate::ids::NodeId;
use crate::lrts::{Capabilities, Entering, Get, Lrts, NoRoom, PathUse, Posted, Put, Refused, Sink};
use crate::memory::{Memory, MemoryMut};
use crate::region::claim::ClaimMode;
use crate::region::{ClaimError, ClaimedRange, Divided, RegionKey};
use crate::sync::spin_lock::SpinMutex;
use cursor::Corrupt;
use inbox::{BACKEND, Inbox};
use ring::{FRAME_BYTES_MAX, Pushed, Reader, Writer};
use rustix::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

struct Outgoing {
    writer: Writer,
    said_goodbye: bool,
    /// Frames of the runtime. Counted here because this thread has the line anyway.
    sent: PathUse,
}

/// The backend of one node.
pub struct Shm {
    host_peers: Arc<HostPeers>,
    /// By the neighbours' positions.
    outgoing: Vec<SpinMutex<Outgoing>>,
    inbox: Inbox,
    /// Set once, by `shutdown`.
    closing: AtomicBool,
}

impl Shm {
    /// Opens the backend on the rings of host peers.
    ///
    /// # Panics
    /// If it was opened on these host peers before: a ring has one reader and one writer.
    pub fn open(host_peers: Arc<HostPeers>) -> Self {
        let mut outgoing = Vec::new();
        let mut readers = Vec::new();
        for neighbour in host_peers.neighbours() {
            let Rings { inbound, outbound } =
                neighbour.take_rings().expect("shm is opened once per host_peers");
            let writer = Writer::new(outbound);
            outgoing.push(SpinMutex::new(Outgoing { writer, said_goodbye: false, sent: PathUse::default() }));
            readers.push(Reader::new(inbound));
        }
        let inbox = Inbox::new(readers, FRAME_BYTES_MAX);
        Self { host_peers, outgoing, inbox, closing: AtomicBool::new(false) }
    }

    /// Whether get, put and view can reach a region: it is live and lies in shareable memory of a neighbour. A hint,
    /// for choosing a path; the operations check again.
    pub fn reaches(&self, key: &RegionKey) -> bool {
        self.host_peers
            .neighbour(key.node)
            .and_then(|neighbour| neighbour.peek(key))
            .is_some_and(|notice| notice.share.is_some())
    }

    /// A region of a neighbour, to help its owner copy there; see [`Divided`]. `None` if it is not shareable.
    ///
    /// # Errors
    /// As a put would fail.
    pub(crate) fn divide(&self, key: &RegionKey) -> Result<Option<Divided>, ClaimError> {
        mapped_range::divide(&self.claim_to_write(key)?, *key).map_err(ClaimError::Failed)
    }

    /// Claims a region of a neighbour for writing, to fill it. `None` if it is not shareable.
    ///
    /// # Errors
    /// As a put would fail.
    pub(crate) fn fill(&self, key: &RegionKey) -> Result<Option<MemoryMut>, ClaimError> {
        mapped_range::fill(self.claim_to_write(key)?, key.len as usize).map_err(ClaimError::Failed)
    }

    fn claim_to_write(&self, key: &RegionKey) -> Result<PeerClaim, ClaimError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(ClaimError::Busy);
        }
        self.host_peers.claim(key, 0, key.len, ClaimMode::Write)
    }

    /// The runtime's frames that a neighbour was sent.
    pub fn sent(&self, target: NodeId) -> PathUse {
        self.host_peers
            .position(target)
            .map_or_else(PathUse::default, |position| self.outgoing[position].lock().sent)
    }

    /// Writes a record to the neighbour at `position`. Returns whether it was taken.
    fn push(&self, position: usize, write: impl FnOnce() -> Result<Pushed, Corrupt>) -> bool {
        let neighbour = &self.host_peers.neighbours()[position];
        if neighbour.fate().is_some() {
            return true;
        }
        match write() {
            Ok(Pushed::Done { ring }) => {
                if ring {
                    ring_doorbell(neighbour.doorbell());
                }
                true
            }
            Ok(Pushed::Full) => false,
            Err(corrupt) => {
                neighbour.condemn(Fate::Broken { what: "ring", cause: corrupt.to_string() });
                // The thread that sleeps for this node has to tell of it.
                ring_doorbell(self.host_peers.doorbell().button());
                true
            }
        }
    }

    /// Says goodbye to all who have not heard it and have room. Returns whether anybody was told.
    fn say_goodbye(&self) -> bool {
        let mut told = false;
        for (position, outgoing) in self.outgoing.iter().enumerate() {
            let mut outgoing = outgoing.lock();
            if !outgoing.said_goodbye && self.push(position, || outgoing.writer.push_goodbye()) {
                outgoing.said_goodbye = true;
                told = true;
            }
        }
        told
    }
}

impl Lrts for Shm {
    fn name(&self) -> &'static str {
        BACKEND
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

    /// One copy into the ring. A system call only when the target sleeps.
    ///
    /// # Errors
    /// While the ring is full (the doorbell rings when it no longer is) and after `shutdown`.
    ///
    /// # Panics
    /// If the frame is too long or the target is no neighbour.
    fn send(&self, target: NodeId, frame: Frame<'_>) -> Result<(), NoRoom> {
        assert!(frame.len() <= FRAME_BYTES_MAX, "frame of {} bytes", frame.len());
        let position = self.host_peers.position(target).expect("shm sends to neighbours only");
        let mut outgoing = self.outgoing[position].lock();
        // Under the lock, so that no frame follows the goodbye.
        if self.closing.load(Ordering::Acquire) {
            return Err(NoRoom);
        }
        if !self.push(position, || outgoing.writer.push(frame)) {
            return Err(NoRoom);
        }
        if frame.channel == Channel::Runtime {
            outgoing.sent.add(frame.len());
        }
        Ok(())
    }

    /// One look at each ring if there is nothing to do.
    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let told = self.closing.load(Ordering::Acquire) && self.say_goodbye();
        self.inbox.progress(&self.host_peers, sink) || told
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(get));
        }
        get_by(&self.host_peers, get, mapped_range::read)
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(put));
        }
        put_by(&self.host_peers, put, mapped_range::write)
    }

    /// Lends a range of a neighbour's arena. `Ok(None)`: the region is not shareable, or somebody writes it now.
    ///
    /// # Errors
    /// As a get would fail.
    fn view(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        entering: Entering,
    ) -> Result<Option<Memory>, TransferError> {
        match self.host_peers.claim(key, offset, len as u64, ClaimMode::Read) {
            Err(ClaimError::Busy) => Ok(None),
            Err(ClaimError::Failed(error)) => Err(error),
            Ok(claim) => mapped_range::lend(claim, offset, len, entering),
        }
    }

    fn claim(
        &self,
        key: &RegionKey,
        offset: u64,
        len: usize,
        mode: ClaimMode,
    ) -> Result<Option<ClaimedRange>, ClaimError> {
        if self.closing.load(Ordering::Acquire) {
            return Err(ClaimError::Busy);
        }
        let claim = self.host_peers.claim(key, offset, len as u64, mode)?;
        mapped_range::keep(claim, offset, len).map_err(ClaimError::Failed)
    }

    fn arm(&self) -> bool {
        self.inbox.arm(&self.host_peers)
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.host_peers.doorbell().wait_fd())
    }

    fn shutdown(&self) {
        if !self.closing.swap(true, Ordering::AcqRel) {
            self.say_goodbye();
        }
    }

    fn is_closed(&self) -> bool {
        self.closing.load(Ordering::Acquire)
            && self.inbox.is_closed(|position| self.outgoing[position].lock().said_goodbye)
    }
}

#[cfg(test)]
mod tests;
