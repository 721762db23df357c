//! Regions: memory of a node that is registered for one-sided access, and the claims on it. Never moves a byte.
//!
//! One [`Regions`] per node, shared by all its backends. A key is an allegation: slot and generation are compared with
//! what was registered; range and rights come from the table, never from the key.

#![expect(unsafe_code, reason = "moves an address range that a claim protects between threads")]

pub(crate) mod bells;
pub(crate) mod board;
pub mod claim;
mod divided;
pub(crate) mod division;
mod range;
mod refusal;
mod table;
pub(crate) mod waiters;

pub use divided::Divided;
pub(crate) use divided::TakePieces;
pub(crate) use range::ForeignRange;
pub use range::{ClaimedRange, Vector};
pub(crate) use refusal::not_granted;
pub use refusal::{ClaimError, check_range};
pub use table::{Extent, Held, RegionKey};

use crate::ambient::dice;
use crate::error::{LrtsError, TransferError};
use crate::ids::NodeId;
use crate::memory::MemoryMut;
use bells::{Bells, Ring, asker};
use board::{Board, Notice, SLOTS};
use claim::ClaimMode;
use divided::OwnPieces;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use table::Table;

/// Slots that [`Regions::register`] leaves free.
const RESERVED_SLOTS: usize = 1024;

/// Hears of an ended region before its memory goes back; `false`: wants to hear no more.
pub type EndListener = Box<dyn Fn(&RegionKey) -> bool + Send + Sync>;

/// A node's registered memory.
pub struct Regions {
    node: NodeId,
    board: Arc<Board>,
    bells: Arc<Bells>,
    /// News up to which the memory of ended regions was looked at. Written under the lock of `table`.
    reaped_at: AtomicU64,
    table: Mutex<Table>,
    listeners: Mutex<Vec<EndListener>>,
}

impl Regions {
    /// An empty table for `node`.
    ///
    /// # Errors
    /// When the kernel grants no shared memory for the board.
    pub fn new(node: NodeId) -> Result<Self, LrtsError> {
        Self::on(node, Board::create())
    }

    /// The same for a node whose neighbours map nothing of it. Takes no descriptor, and memory as it is used.
    ///
    /// # Errors
    /// When the kernel grants no addresses for the board.
    #[cfg(feature = "sim")]
    pub(crate) fn private(node: NodeId) -> Result<Self, LrtsError> {
        Self::on(node, Board::private())
    }

    fn on(node: NodeId, board: io::Result<Board>) -> Result<Self, LrtsError> {
        let board = board.map_err(|source| LrtsError::System {
            operation: "creating the table of registered memory",
            backend: "lrts",
            source: Arc::new(source),
            hint: "; 4 MiB of shared memory and one file descriptor are needed (see `ulimit -n`)",
        })?;
        let (board, bells) = (Arc::new(board), Arc::new(Bells::default()));
        let own = Arc::clone(&board);
        bells.add(node, Box::new(move || own.add_news()));
        let (reaped_at, table) = (AtomicU64::new(0), Mutex::default());
        Ok(Self { node, board, bells, reaped_at, table, listeners: Mutex::default() })
    }

    /// Whose they are.
    pub fn node(&self) -> NodeId {
        self.node
    }

    /// What peers of this host read.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The bells of those who may wait for the end of a claim.
    pub(crate) fn bells(&self) -> &Arc<Bells> {
        &self.bells
    }

    /// Has `ring` called whenever there is news for this node, by the thread that brings it, which is in a transfer: it wakes who sleeps,
    /// and does nothing else.
    pub fn on_news(&self, ring: impl Fn() + Send + Sync + 'static) {
        let ring: Ring = Box::new(ring);
        self.bells.add(self.node, ring);
    }

    /// How often this node was told that a claim has ended which it asked about.
    pub fn news(&self) -> u64 {
        self.board.news()
    }

    /// Asks for news of the end of the claims that are in the way of another one on a region of this node. Returns whether there are such:
    /// [`Regions::news`] changes then, once they have ended. If not, it is time to try again.
    pub fn ask(&self, key: &RegionKey, mode: ClaimMode) -> bool {
        self.board.ask(key.slot, Some(mode), asker(self.node))
    }

    /// Registers memory until [`Regions::deregister`]. No copy, no system call.
    ///
    /// # Errors
    /// The memory itself when all slots of the board are taken, but for a few that [`Regions::register_reserved`] takes.
    pub fn register(&self, held: Held) -> Result<RegionKey, Held> {
        self.register_within(SLOTS - RESERVED_SLOTS, held, false)
    }

    /// The same for what must go on when users have taken all they can get.
    ///
    /// # Errors
    /// The memory itself when all slots of the board are taken.
    pub fn register_reserved(&self, held: Held) -> Result<RegionKey, Held> {
        self.register_within(SLOTS, held, false)
    }

    /// Registers memory to which this node and a peer copy together, in so many pieces. Returns this node's end, which is to be gone before
    /// [`Regions::deregister`].
    ///
    /// # Errors
    /// The memory itself when all slots of the board are taken, but for a few.
    pub fn register_divided(
        &self,
        memory: MemoryMut,
        pieces: u32,
    ) -> Result<(RegionKey, Divided), MemoryMut> {
        let (address, len) = (memory.address(), memory.len());
        let key = self.register(Held::Target(memory)).map_err(|held| match held {
            Held::Target(memory) => memory,
            Held::Source(_) => unreachable!("a target was given"),
        })?;
        if let Some(division) = self.board.division(key.slot) {
            division.divide(pieces);
        }
        let own = OwnPieces { board: Arc::clone(&self.board), slot: key.slot };
        Ok((key, Divided::new(address, len, own)))
    }

    /// Registers memory between whose bytes others lie that are not registered: it is [filled](crate::reach::Reach::fill) in place, by
    /// whoever has its layout. Gets, puts and claims of ranges are refused where this node carries them out; a neighbour that maps the memory
    /// is trusted with its layout, as with all that it maps.
    ///
    /// # Errors
    /// The memory itself when all slots of the board are taken, but for a few.
    pub fn register_holey(&self, memory: MemoryMut) -> Result<RegionKey, MemoryMut> {
        self.register_within(SLOTS - RESERVED_SLOTS, Held::Target(memory), true).map_err(|held| match held {
            Held::Target(memory) => memory,
            Held::Source(_) => unreachable!("a target was given"),
        })
    }

    fn register_within(&self, limit: usize, held: Held, is_holey: bool) -> Result<RegionKey, Held> {
        let mut table = self.table.lock();
        let Some(slot) = table.take_slot(limit) else { return Err(held) };
        let generation = dice::draw().max(1);
        let notice = held.notice();
        self.board.publish(slot, generation, notice);
        let key = RegionKey { node: self.node, slot, generation, len: notice.len };
        table.enter(&key, held, is_holey);
        Ok(key)
    }

    /// Ends a registration. The memory comes back at once if nobody touches it, else from
    /// [`Regions::reap`] after the last operation on it; new operations fail as stale from here on.
    ///
    /// # Errors
    /// [`TransferError::StaleKey`] when there is no such registration.
    pub fn deregister(&self, key: &RegionKey) -> Result<Option<Held>, TransferError> {
        let mut table = self.table.lock();
        let held = table.remove(key).ok_or(TransferError::StaleKey(key.node))?;
        self.board.retire(key.slot);
        while !self.board.is_drained(key.slot) {
            if self.board.ask(key.slot, None, asker(self.node)) {
                table.keep(*key, held);
                return Ok(None);
            }
        }
        table.give_back(key.slot);
        drop(table);
        self.tell_end(key);
        Ok(Some(held))
    }

    /// Whether [`Regions::reap`] may find memory that it has not found before. Two loads.
    pub fn may_reap(&self) -> bool {
        self.news() != self.reaped_at.load(Ordering::Relaxed)
    }

    /// Whether an operation touches a live region at this moment.
    pub fn is_claimed(&self, key: &RegionKey) -> bool {
        self.board.is_claimed(key.slot)
    }

    /// How many regions, live or ended, an operation touches at this moment.
    #[cfg(feature = "sim")]
    pub fn claimed(&self) -> usize {
        let slots = self.table.lock().slots();
        (0..slots).filter(|slot| self.board.is_claimed(*slot)).count()
    }

    /// Memory of ended registrations that nobody touches any more.
    pub fn reap(&self) -> Vec<(RegionKey, Held)> {
        let mut table = self.table.lock();
        // Before the look: what ends after it is news again.
        self.reaped_at.store(self.news(), Ordering::Relaxed);
        let drained = table.take_drained(|slot| self.board.is_drained(slot));
        drop(table);
        drained.iter().for_each(|(key, _)| self.tell_end(key));
        drained
    }

    /// Calls `listener` for every region whose memory is about to go back to its owner, until it returns `false`.
    pub fn on_end(&self, listener: EndListener) {
        self.listeners.lock().push(listener);
    }

    fn tell_end(&self, key: &RegionKey) {
        self.listeners.lock().retain(|listener| listener(key));
    }

    /// Address range of a live region. A user of the address holds a claim.
    pub fn extent(&self, key: &RegionKey) -> Option<Extent> {
        let table = self.table.lock();
        let held = table.find(key)?;
        Some(Extent { place: held.place(), writable: matches!(held, Held::Target(_)) })
    }

    /// Claims a range of a region of this node, for an operation that this process carries out.
    ///
    /// # Errors
    /// [`ClaimError`]; nothing is held then. Always for memory of a device.
    pub fn claim(
        self: &Arc<Self>,
        key: &RegionKey,
        offset: u64,
        len: u64,
        mode: ClaimMode,
    ) -> Result<Claim, ClaimError> {
        self.claim_for(key, (offset, len), mode, Reaching::Host)
    }

    /// Claims all of a region of this node for writing, to fill what its layout selects.
    ///
    /// # Errors
    /// As for [`claim`](Self::claim).
    pub(crate) fn claim_to_fill(self: &Arc<Self>, key: &RegionKey) -> Result<Claim, ClaimError> {
        self.claim_for(key, (0, key.len), ClaimMode::Write, Reaching::ByLayout)
    }

    /// The same for an operation that a network carries out, which may reach memory of a device.
    ///
    /// # Errors
    /// [`ClaimError`]; nothing is held then.
    #[cfg_attr(
        not(any(feature = "ofi", feature = "verbs", feature = "sim")),
        expect(dead_code, reason = "this build has no such network")
    )]
    pub(crate) fn claim_for_network(
        self: &Arc<Self>,
        key: &RegionKey,
        range: (u64, u64),
        mode: ClaimMode,
    ) -> Result<Claim, ClaimError> {
        self.claim_for(key, range, mode, Reaching::Devices)
    }

    fn claim_for(
        self: &Arc<Self>,
        key: &RegionKey,
        (offset, len): (u64, u64),
        mode: ClaimMode,
        reaching: Reaching,
    ) -> Result<Claim, ClaimError> {
        let table = self.table.lock();
        let held = table
            .find(key)
            .filter(|_| key.node == self.node)
            .ok_or(ClaimError::Failed(TransferError::StaleKey(key.node)))?;
        // Address and length come from the private table: peers can write the board.
        let notice = held.notice();
        let reaches_devices = matches!(reaching, Reaching::Devices);
        let notice = Notice { is_of_device: notice.is_of_device && !reaches_devices, ..notice };
        if table.is_holey(key) && !matches!(reaching, Reaching::ByLayout) {
            return Err(ClaimError::Failed(TransferError::FilledInPlace(key.node)));
        }
        check_range(key.node, &notice, offset, len, mode).map_err(ClaimError::Failed)?;
        self.board
            .claim(key.slot, key.generation, mode)
            .map_err(|denied| not_granted(denied, key.node, &self.bells))?;
        let address = held.address().wrapping_add(offset as usize);
        drop(table);
        Ok(Claim { regions: Arc::clone(self), slot: key.slot, mode, address, len: len as usize })
    }
}

/// What an operation reaches that claims a range.
#[derive(Clone, Copy)]
enum Reaching {
    /// Memory of the host.
    Host,
    /// Memory of devices, too.
    Devices,
    /// Memory of the host, also where others' bytes lie between those that it touches.
    ByLayout,
}

/// A granted claim on a range of this node's memory; given back on drop. While it lives, the bytes stay
/// allocated, and nobody writes them (read claim) or touches them at all (write claim).
pub struct Claim {
    regions: Arc<Regions>,
    slot: u32,
    mode: ClaimMode,
    address: *mut u8,
    len: usize,
}

// SAFETY: a claim is an address range that stays valid and race-free while it lives, on any thread.
unsafe impl Send for Claim {}
// SAFETY: `&Claim` gives out address and length only.
unsafe impl Sync for Claim {}

impl Claim {
    /// First byte of the claimed range; writable only under a write claim.
    pub fn address(&self) -> *mut u8 {
        self.address
    }

    /// Bytes claimed.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the range is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.regions.bells.tell(self.regions.board.release(self.slot, self.mode));
    }
}
