//! Nodes of one host: frames through rings that both map, get and put as one copy, views for nothing.
//!
//! 1. Every ordered pair of nodes has one ring (`ring`). The writing end is shared by the threads of a node under a
//!    short lock; the reading ends belong to whoever is in `progress`.
//! 2. A region in an arena of a neighbour is reached through our mapping of the arena, under a claim on the
//!    neighbour's board. Other memory is not reached by this backend: [`Shm::reaches`] tells.
//! 3. **Sleeping.** `arm` says so in each ring to read; who writes a record then rings the doorbell (`cursor`).
//!    The first progress after it takes that back. One ring may wake several threads, and
//!    one progress ends the sleep of the node: a thread that goes on sleeping must arm again.
//! 4. **End.** A goodbye is the last record of a ring. A neighbour whose link ends before it is lost; its ring is
//!    read to the end first. A neighbour that breaks the protocol is lost at once. To either, frames
//!    are accepted and dropped: `peer_lost` tells.

pub(crate) mod cursor;
mod place;
mod ring;

use crate::capabilities::Capabilities;
use crate::claim::ClaimMode;
use crate::error::TransferError;
use crate::frame::Frame;
use crate::host::{Fate, Neighbour, Neighbourhood, Rings, get_by, put_by, ring_doorbell};
use crate::ids::NodeId;
use crate::lrts::{Get, Lrts, NoRoom, Posted, Put, Refused, Sink};
use crate::memory::Memory;
use crate::region::{ClaimError, RegionKey};
use cursor::Corrupt;
use parking_lot::Mutex;
use ring::{Kind, Pushed, Reader, Writer};
use rustix::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The longest frame: half of the shortest ring, so that one always fits.
const FRAME_BYTES_MAX: usize = 64 << 10;

const BACKEND: &str = "shm";

/// Looks at the rings between two looks at the clock that tells when the links are due: it costs more than a ring.
const LOOKS_PER_CLOCK: u32 = 16;

/// How a neighbour stands with us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Presence {
    Open,
    Closed,
    Lost,
}

struct Outgoing {
    writer: Writer,
    said_goodbye: bool,
}

struct Incoming {
    reader: Reader,
    presence: Presence,
}

/// What progress owns while it runs.
struct Inbox {
    /// By the neighbours' positions.
    incoming: Vec<Incoming>,
    /// Where a frame is copied before anybody looks at it.
    scratch: Box<[u8]>,
    /// Whether `arm` was called since the last progress.
    armed: bool,
    /// Whether the fates of the neighbours have to be looked at.
    suspicious: bool,
    /// Looks at the rings without a look at the links.
    looks: u32,
}

/// The backend of one node.
pub struct Shm {
    neighbourhood: Arc<Neighbourhood>,
    /// By the neighbours' positions.
    outgoing: Vec<Mutex<Outgoing>>,
    inbox: Mutex<Inbox>,
    /// Set once, by `shutdown`.
    closing: AtomicBool,
}

impl Shm {
    /// Opens the backend on the rings of a neighbourhood.
    ///
    /// # Panics
    /// If it was opened on this neighbourhood before: a ring has one reader and one writer.
    pub fn open(neighbourhood: Arc<Neighbourhood>) -> Self {
        let mut outgoing = Vec::new();
        let mut incoming = Vec::new();
        for neighbour in neighbourhood.neighbours() {
            let Rings { inbound, outbound } =
                neighbour.take_rings().expect("shm is opened once per neighbourhood");
            outgoing.push(Mutex::new(Outgoing { writer: Writer::new(outbound), said_goodbye: false }));
            incoming.push(Incoming { reader: Reader::new(inbound), presence: Presence::Open });
        }
        let scratch = vec![0; FRAME_BYTES_MAX].into_boxed_slice();
        let inbox = Mutex::new(Inbox { incoming, scratch, armed: false, suspicious: false, looks: 0 });
        Self { neighbourhood, outgoing, inbox, closing: AtomicBool::new(false) }
    }

    /// Whether get, put and view can reach a region: it is live and lies in shareable memory of a neighbour. A hint,
    /// for choosing a path; the operations check again.
    pub fn reaches(&self, key: &RegionKey) -> bool {
        self.neighbourhood
            .neighbour(key.node)
            .and_then(|neighbour| neighbour.peek(key))
            .is_some_and(|notice| notice.share.is_some())
    }

    /// Writes a record to the neighbour at `position`. Returns whether it was taken.
    fn push(&self, position: usize, write: impl FnOnce() -> Result<Pushed, Corrupt>) -> bool {
        let neighbour = &self.neighbourhood.neighbours()[position];
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

    /// Looks after the links now and then, or at once when the doorbell may have told of them. Returns whether the fates
    /// of the neighbours may have changed.
    fn attend_links(&self, inbox: &mut Inbox) -> bool {
        if inbox.armed {
            inbox.wake_up();
            self.neighbourhood.doorbell().silence();
            self.neighbourhood.read_links();
            return true;
        }
        inbox.looks += 1;
        let is_due = inbox.looks >= LOOKS_PER_CLOCK && {
            inbox.looks = 0;
            self.neighbourhood.read_links_if_due()
        };
        std::mem::take(&mut inbox.suspicious) || is_due
    }

    /// Reads what waits from the neighbour at `position`. Returns whether anything did.
    fn receive(&self, position: usize, inbox: &mut Inbox, sink: &mut dyn Sink) -> bool {
        let neighbour = &self.neighbourhood.neighbours()[position];
        let incoming = &mut inbox.incoming[position];
        if let Err(cause) = drain(neighbour, incoming, &mut inbox.scratch, sink) {
            neighbour.condemn(Fate::Broken { what: "frame", cause });
            inbox.suspicious = true;
        }
        true
    }

    /// Reports the neighbour at `position` if it is gone and its ring is read to the end, or if it broke the protocol.
    fn judge(&self, position: usize, inbox: &mut Inbox, sink: &mut dyn Sink) -> bool {
        let neighbour = &self.neighbourhood.neighbours()[position];
        let incoming = &mut inbox.incoming[position];
        let is_lost = match neighbour.fate() {
            None => false,
            // What the dead wrote is there by now.
            Some(Fate::Gone) => !incoming.reader.has_record(),
            Some(Fate::Broken { .. }) => true,
        };
        if is_lost && incoming.presence == Presence::Open {
            incoming.presence = Presence::Lost;
            sink.peer_lost(neighbour.loss(BACKEND));
            return true;
        }
        false
    }
}

/// Delivers the records that wait, at most a ring full of them, so that every neighbour has its turn.
fn drain(
    neighbour: &Neighbour,
    incoming: &mut Incoming,
    scratch: &mut [u8],
    sink: &mut dyn Sink,
) -> Result<(), String> {
    let mut read = 0;
    while read < incoming.reader.lines()
        && let Some((kind, len, lines)) = incoming.reader.pop(scratch)?
    {
        if incoming.presence == Presence::Closed {
            return Err("a frame after the goodbye".to_owned());
        }
        read += lines;
        match kind {
            Kind::Frame(channel) => sink.frame(neighbour.node(), channel, &scratch[..len]),
            Kind::Goodbye => {
                incoming.presence = Presence::Closed;
                sink.peer_closed(neighbour.node());
            }
        }
    }
    if incoming.reader.is_awaited() {
        ring_doorbell(neighbour.doorbell());
    }
    Ok(())
}

impl Inbox {
    fn fall_asleep(&mut self) {
        self.armed = true;
        for incoming in &self.incoming {
            incoming.reader.fall_asleep();
        }
        cursor::settle();
    }

    fn wake_up(&mut self) {
        self.armed = false;
        for incoming in &self.incoming {
            incoming.reader.wake_up();
        }
    }

    /// Whether progress would find a record or a fate that is not yet told.
    fn has_work(&self, neighbours: &[Arc<Neighbour>]) -> bool {
        self.incoming.iter().zip(neighbours).any(|(incoming, neighbour)| {
            incoming.presence == Presence::Open
                && (incoming.reader.has_record() || neighbour.fate().is_some())
        })
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
            view: true,
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
        let position = self.neighbourhood.position(target).expect("shm sends to neighbours only");
        let mut outgoing = self.outgoing[position].lock();
        // Under the lock, so that no frame follows the goodbye.
        if self.closing.load(Ordering::Acquire) {
            return Err(NoRoom);
        }
        if self.push(position, || outgoing.writer.push(frame)) { Ok(()) } else { Err(NoRoom) }
    }

    fn progress(&self, sink: &mut dyn Sink) -> bool {
        let Some(mut inbox) = self.inbox.try_lock() else { return false };
        let mut judges = self.attend_links(&mut inbox);
        let mut happened = self.closing.load(Ordering::Acquire) && self.say_goodbye();
        for position in 0..inbox.incoming.len() {
            let incoming = &inbox.incoming[position];
            if incoming.presence == Presence::Open && incoming.reader.has_record() {
                happened |= self.receive(position, &mut inbox, sink);
            }
        }
        judges |= std::mem::take(&mut inbox.suspicious);
        if judges {
            for position in 0..inbox.incoming.len() {
                happened |= self.judge(position, &mut inbox, sink);
            }
        }
        happened
    }

    fn get(&self, get: Get) -> Result<Posted, Refused<Get>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(get));
        }
        get_by(&self.neighbourhood, get, place::read)
    }

    fn put(&self, put: Put) -> Result<Posted, Refused<Put>> {
        if self.closing.load(Ordering::Acquire) {
            return Err(Refused(put));
        }
        put_by(&self.neighbourhood, put, place::write)
    }

    /// Lends a range of a neighbour's arena. `Ok(None)`: the region is not shareable, or somebody writes it now.
    ///
    /// # Errors
    /// As a get would fail.
    fn view(&self, key: &RegionKey, offset: u64, len: usize) -> Result<Option<Memory>, TransferError> {
        match self.neighbourhood.claim(key, offset, len as u64, ClaimMode::Read) {
            Err(ClaimError::Busy) => Ok(None),
            Err(ClaimError::Failed(error)) => Err(error),
            Ok(claim) => place::lend(claim, offset, len),
        }
    }

    fn arm(&self) -> bool {
        // Somebody else makes progress: there is something to do.
        let Some(mut inbox) = self.inbox.try_lock() else { return false };
        inbox.fall_asleep();
        if inbox.has_work(self.neighbourhood.neighbours()) {
            inbox.wake_up();
            inbox.suspicious = true;
            return false;
        }
        true
    }

    fn event_fd(&self) -> Option<BorrowedFd<'_>> {
        Some(self.neighbourhood.doorbell().wait_fd())
    }

    fn shutdown(&self) {
        if !self.closing.swap(true, Ordering::AcqRel) {
            self.say_goodbye();
        }
    }

    fn is_closed(&self) -> bool {
        if !self.closing.load(Ordering::Acquire) {
            return false;
        }
        let Some(inbox) = self.inbox.try_lock() else { return false };
        inbox.incoming.iter().zip(&self.outgoing).all(|(incoming, outgoing)| match incoming.presence {
            Presence::Open => false,
            Presence::Closed => outgoing.lock().said_goodbye,
            Presence::Lost => true,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
