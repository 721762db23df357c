//! Host peer: what this node knows of, and maps from, one other node of its host.
//!
//! 1. Everything comes from its hello, except its arenas, which it announces one by one, each behind the last one of the last row, or as the
//!    first of the next. Rows are numbered from 0.
//! 2. Its fate is decided once: its link ended, or it broke a protocol. From then on nothing of it is used.
//! 3. What is mapped of it stays mapped as long as it is known: rows are added, and none is taken away. So whoever holds a claim on one of
//!    its regions, and with it a handle of the neighbour, may use the bytes where they are mapped.
//! 4. Its board tells liveness, range, rights and place of a region, under a claim. What the board says is about
//!    the neighbour's own memory; a place in a row is compared with the length of our mapping of it.

use crate::error::{LrtsError, TransferError};
use crate::host::arena::{ARENA_BYTES_MAX, ARENA_GRAIN_BYTES, ARENAS_MAX};
use crate::host::doorbell::ring_doorbell;
use crate::host::link::{Introduction, Link, Message, Received};
use crate::host::peer_row::PeerRow;
use crate::ids::NodeId;
use crate::lrts::Entering;
use crate::mapping::Mapping;
use crate::memory::Share;
use crate::region::bells::{Bells, asker};
use crate::region::board::{Board, Notice};
use crate::region::claim::ClaimMode;
use crate::region::division::DivisionWord;
use crate::region::{ClaimError, RegionKey, check_range, not_granted};
use parking_lot::{Mutex, RwLock};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};

/// Bytes before a ring's data: the words that both sides share.
pub(crate) const RING_CONTROL_BYTES: usize = 4096;

/// Ring data lengths that a neighbour may choose: powers of two in this range.
pub(crate) const RING_DATA_BYTES_MIN: usize = 128 << 10;
pub(crate) const RING_DATA_BYTES_MAX: usize = 1 << 20;

/// The two rings of a pair of nodes.
#[derive(Debug)]
pub(crate) struct Rings {
    /// The ring that the neighbour writes and this node reads.
    pub(crate) inbound: Mapping,
    /// The ring that this node writes and the neighbour reads.
    pub(crate) outbound: Mapping,
}

/// Why a neighbour is no longer used.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its link ended.
    Gone,
    /// The neighbour sent what no correct node sends.
    Broken { what: &'static str, cause: String },
}

/// A row that was announced, or the reason why there are no addresses for it.
type Announced = Result<PeerRow, String>;

/// The arenas that a neighbour has announced.
#[derive(Debug, Default)]
struct Rows {
    /// By number.
    rows: Vec<Announced>,
    arenas: usize,
}

/// One other node of this host.
#[derive(Debug)]
pub(crate) struct HostPeer {
    introduction: Introduction,
    link: Arc<Link>,
    board: Board,
    /// Of this node, for the neighbours that wait for claims.
    bells: Arc<Bells>,
    doorbell: OwnedFd,
    /// Taken by the backend that carries frames.
    rings: Mutex<Option<Rings>>,
    rows: RwLock<Rows>,
    fate: OnceLock<Fate>,
    /// Held while the link is read, so that announcements are taken in order.
    reading: Mutex<()>,
}

/// Hello of a neighbour, mapped: of the descriptors that came along, one is left.
#[derive(Debug)]
pub(crate) struct Hello {
    introduction: Introduction,
    board: Board,
    outbound: Mapping,
    doorbell: OwnedFd,
}

impl Hello {
    /// Takes the hello that came from the link to `peer`.
    ///
    /// # Errors
    /// In words, which part of it is unusable.
    pub(crate) fn open(peer: NodeId, message: Message) -> Result<Self, String> {
        let Message::Hello { introduction, board, ring, doorbell } = message else {
            return Err("an announcement before the hello".to_owned());
        };
        if introduction.node != peer {
            return Err(format!("it says it is {}", introduction.node));
        }
        if introduction.pid <= 0 {
            return Err(format!("process number {}", introduction.pid));
        }
        let ring_bytes = usize::try_from(introduction.ring_bytes).unwrap_or(usize::MAX);
        let data_bytes = ring_bytes.saturating_sub(RING_CONTROL_BYTES);
        if !(RING_DATA_BYTES_MIN..=RING_DATA_BYTES_MAX).contains(&data_bytes) || !data_bytes.is_power_of_two()
        {
            return Err(format!("a ring of {ring_bytes} bytes"));
        }
        let board = Board::open(&board).map_err(|error| format!("its board: {error}"))?;
        let outbound = Mapping::open(&ring, ring_bytes).map_err(|error| format!("its ring: {error}"))?;
        // A descriptor that blocks would let the neighbour stop this node.
        let flags = rustix::fs::fcntl_getfl(&doorbell).map_err(|error| format!("its doorbell: {error}"))?;
        if !flags.contains(rustix::fs::OFlags::NONBLOCK) {
            return Err("its doorbell blocks".to_owned());
        }
        Ok(Self { introduction, board, outbound, doorbell })
    }
}

impl HostPeer {
    /// The neighbour that said this hello.
    pub(crate) fn new(link: Arc<Link>, inbound: Mapping, hello: Hello, bells: Arc<Bells>) -> Self {
        let Hello { introduction, board, outbound, doorbell } = hello;
        Self {
            introduction,
            link,
            board,
            bells,
            doorbell,
            rings: Mutex::new(Some(Rings { inbound, outbound })),
            rows: RwLock::default(),
            fate: OnceLock::new(),
            reading: Mutex::default(),
        }
    }

    /// Its number in the job.
    pub(crate) fn node(&self) -> NodeId {
        self.link.peer()
    }

    /// Its introduction.
    pub(crate) fn introduction(&self) -> &Introduction {
        &self.introduction
    }

    /// The descriptor that wakes it.
    pub(crate) fn doorbell(&self) -> BorrowedFd<'_> {
        self.doorbell.as_fd()
    }

    /// The socket to it.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// The rings, for the one backend that carries frames.
    pub(crate) fn take_rings(&self) -> Option<Rings> {
        self.rings.lock().take()
    }

    /// Why it is no longer used, if so.
    pub(crate) fn fate(&self) -> Option<&Fate> {
        self.fate.get()
    }

    /// Stops using it; the first cause stays.
    pub(crate) fn condemn(&self, fate: Fate) {
        let _ = self.fate.set(fate);
    }

    /// Its fate as an error of `backend`.
    pub(crate) fn loss(&self, backend: &'static str) -> LrtsError {
        match self.fate() {
            Some(Fate::Broken { what, cause }) => {
                LrtsError::Protocol { peer: self.node(), backend, what, cause: cause.clone() }
            }
            Some(Fate::Gone) | None => LrtsError::PeerLost {
                peer: self.node(),
                backend,
                cause: "its process ended without a goodbye".to_owned(),
            },
        }
    }

    /// Reads all that waits in the link. At most some microseconds; one system call if there is nothing.
    pub(crate) fn read_link(&self) {
        let _reading = self.reading.lock();
        while self.fate().is_none() {
            match self.link.receive() {
                Received::Nothing => return,
                Received::Ended => self.condemn(Fate::Gone),
                Received::Invalid(cause) => self.condemn(Fate::Broken { what: "packet", cause }),
                Received::Message(Message::Hello { .. }) => {
                    self.condemn(Fate::Broken { what: "hello", cause: "it is the second".to_owned() });
                }
                Received::Message(Message::Arena { row, len, memory }) => {
                    self.add_arena(row, len, memory);
                }
            }
        }
    }

    fn add_arena(&self, row: u32, len: u64, memory: Option<OwnedFd>) {
        let broken = |cause| self.condemn(Fate::Broken { what: "arena", cause });
        let Rows { rows, arenas } = &mut *self.rows.write();
        let (number, count) = (row as usize, rows.len());
        if number > count || number + 1 < count || *arenas == ARENAS_MAX {
            return broken(format!("row {row} after {count} rows of {arenas} arenas"));
        }
        if len == 0 || len > ARENA_BYTES_MAX as u64 || !len.is_multiple_of(ARENA_GRAIN_BYTES as u64) {
            return broken(format!(
                "{len} bytes, where {ARENA_GRAIN_BYTES} and multiples up to {ARENA_BYTES_MAX} can be"
            ));
        }
        let len = len as usize;
        *arenas += 1;
        if number == count {
            rows.push(
                PeerRow::new(len).map_err(|error| format!("there are no addresses for its arenas: {error}")),
            );
        }
        let appended = rows[number].as_ref().map_or(Ok(()), |row| row.append(memory.as_ref(), len));
        if let Err(error) = appended {
            broken(error.to_string());
        }
    }

    /// Where a range of its arenas is mapped (rule 3); reads the link when the range is not known yet.
    ///
    /// # Errors
    /// [`TransferError::Refused`] when it was never announced or cannot be mapped.
    pub(crate) fn locate(
        &self,
        share: Share,
        len: usize,
        entering: Entering,
    ) -> Result<*mut u8, TransferError> {
        self.locate_known(share, len, entering).or_else(|_| {
            self.read_link();
            let located = self.locate_known(share, len, entering);
            located.map_err(|cause| TransferError::Refused { node: self.node(), cause })
        })
    }

    fn locate_known(&self, share: Share, len: usize, entering: Entering) -> Result<*mut u8, String> {
        let Rows { rows, .. } = &*self.rows.read();
        let row = rows.get(share.row as usize);
        let row = row.ok_or_else(|| format!("row {} was never announced", share.row))?.as_ref()?;
        row.locate(share.offset, len, entering).ok_or_else(|| match row.fault() {
            Some(fault) => format!("an arena of its is missing here: {fault}"),
            None => format!("its board places the region outside of its arenas, in row {}", share.row),
        })
    }

    /// Its board's notice of a region, without a claim.
    pub(crate) fn peek(&self, key: &RegionKey) -> Option<Notice> {
        self.board.peek(key.slot, key.generation)
    }

    /// The pieces of a copy to one of its regions that this node helps with; `None` when the region is over. What is left without a claim
    /// is a hint.
    pub(crate) fn division(&self, key: &RegionKey) -> Option<&DivisionWord> {
        self.peek(key).and_then(|_| self.board.division(key.slot))
    }

    /// Tells it that a claim has ended which it asked about, and wakes it.
    pub(crate) fn bring_news(&self) {
        self.board.add_news();
        ring_doorbell(self.doorbell());
    }

    /// Asks, for `node`, for news of the end of the claims that are in the way of another one on one of its regions. Returns whether there
    /// are such. Those on memory of a neighbour that is lost end with the job.
    pub(crate) fn ask(&self, node: NodeId, key: &RegionKey, mode: ClaimMode) -> bool {
        self.fate().is_none() && self.board.ask(key.slot, Some(mode), asker(node))
    }

    /// Claims a range of one of its regions.
    ///
    /// # Errors
    /// [`ClaimError`]; nothing is held then.
    pub(crate) fn claim(
        self: &Arc<Self>,
        key: &RegionKey,
        offset: u64,
        len: u64,
        mode: ClaimMode,
    ) -> Result<PeerClaim, ClaimError> {
        if self.fate().is_some() {
            return Err(ClaimError::Failed(TransferError::PeerLost(self.node())));
        }
        let claimed = self.board.claim(key.slot, key.generation, mode);
        let notice = claimed.map_err(|denied| not_granted(denied, self.node(), &self.bells))?;
        let neighbour = Arc::clone(self);
        let claim = PeerClaim { neighbour, slot: key.slot, mode, notice, is_abandoned: false };
        check_range(self.node(), &notice, offset, len, mode).map_err(ClaimError::Failed)?;
        Ok(claim)
    }
}

/// A granted claim on a neighbour's region; given back on drop.
#[derive(Debug)]
pub(crate) struct PeerClaim {
    neighbour: Arc<HostPeer>,
    slot: u32,
    mode: ClaimMode,
    notice: Notice,
    is_abandoned: bool,
}

impl PeerClaim {
    /// Leaves the region claimed for ever: something went wrong with its bytes, and nobody is to take them for whole.
    pub(crate) fn abandon(mut self) {
        self.is_abandoned = true;
    }

    /// The neighbour whose region it is.
    pub(crate) fn neighbour(&self) -> &Arc<HostPeer> {
        &self.neighbour
    }

    /// The board's notice when the claim was granted.
    pub(crate) fn notice(&self) -> &Notice {
        &self.notice
    }
}

impl Drop for PeerClaim {
    fn drop(&mut self) {
        if !self.is_abandoned {
            self.neighbour.bells.tell(self.neighbour.board.release(self.slot, self.mode));
        }
    }
}
