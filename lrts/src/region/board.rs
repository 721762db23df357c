//! Board: a node's table of live regions, mapped by every node of the host.
//!
//! A one-sided access does not ask the target's processor; so the target writes down beforehand what may be
//! touched, and the initiator reads it there, never in the key it was given: address, length, rights and liveness all come
//! from the board, under a claim (see [`crate::region::claim`]).

#![expect(unsafe_code, reason = "views shared memory as slots of atomics")]

use crate::mapping::Mapping;
use crate::memory::Share;
use crate::region::claim::{Askers, ClaimDenied, ClaimMode, ClaimWord};
use crate::region::division::DivisionWord;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Slots of a board: regions that one node can have registered at a time. 4 MiB of zero pages.
pub(crate) const SLOTS: usize = 65_536;

/// Where the count of news stands, behind the slots, on a line of its own.
const NEWS_AT: usize = SLOTS * size_of::<Slot>();

/// Bytes of a board.
const BYTES: usize = NEWS_AT + 64;

const NOT_SHARED: u32 = u32::MAX;

const WRITABLE: u32 = 1;
const OF_DEVICE: u32 = 2;

/// One region as its owner published it. All fields but the claims and the division are written by the owner only, on a
/// drained slot, before `publish`; the generation's store and load order them.
#[repr(C, align(64))]
struct Slot {
    claim: ClaimWord,
    /// `NOT_SHARED`, or the number of a row of arenas.
    row: AtomicU32,
    /// [`WRITABLE`] if puts are allowed, and [`OF_DEVICE`] if it is memory of a device.
    kind: AtomicU32,
    /// Where the region starts in its owner's address space.
    address: AtomicU64,
    /// Its length in bytes.
    len: AtomicU64,
    /// Where it starts in its row.
    row_offset: AtomicU64,
    /// Of a copy to the region that a neighbour helps with.
    division: DivisionWord,
}

const _: () = assert!(size_of::<Slot>() == 64);

impl Slot {
    fn notice(&self) -> Notice {
        let row = self.row.load(Ordering::Relaxed);
        let share =
            (row != NOT_SHARED).then(|| Share { row, offset: self.row_offset.load(Ordering::Relaxed) });
        let kind = self.kind.load(Ordering::Relaxed);
        Notice {
            address: self.address.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
            writable: kind & WRITABLE != 0,
            is_of_device: kind & OF_DEVICE != 0,
            share,
        }
    }
}

/// What a board says about a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Notice {
    /// Where the region starts in its owner's address space.
    pub address: u64,
    /// Its length in bytes.
    pub len: u64,
    /// Whether puts are allowed.
    pub writable: bool,
    /// Whether it is memory of a device, which only networks reach.
    pub is_of_device: bool,
    /// Where it lies in its owner's arenas.
    pub share: Option<Share>,
}

/// A node's board: our own (created) or a peer's (opened).
#[derive(Debug)]
pub struct Board {
    slots: Mapping,
    /// Our own board's, for the neighbours, if they may map it.
    descriptor: Option<OwnedFd>,
}

impl Board {
    /// An empty board of our own.
    ///
    /// # Errors
    /// The kernel's.
    pub fn create() -> io::Result<Self> {
        let (slots, descriptor) = Mapping::create("chare-board", BYTES)?;
        Ok(Self { slots, descriptor: Some(descriptor) })
    }

    /// An empty board of our own that no neighbour can map. Takes no descriptor, and memory as slots are used.
    ///
    /// # Errors
    /// The kernel's.
    #[cfg(feature = "sim")]
    pub(crate) fn private() -> io::Result<Self> {
        Ok(Self { slots: Mapping::private(BYTES)?, descriptor: None })
    }

    /// A peer's board.
    ///
    /// # Errors
    /// The kernel's, or invalid data for an object that is no board.
    pub fn open(descriptor: &OwnedFd) -> io::Result<Self> {
        let slots = Mapping::open(descriptor, BYTES)?;
        Ok(Self { slots, descriptor: None })
    }

    /// What a peer needs to open it; `None` for a board that is itself a peer's, or that none may open.
    pub fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.descriptor.as_ref().map(AsFd::as_fd)
    }

    /// How often its node was told that it is time to try again. Whoever added made visible before why.
    pub fn news(&self) -> u64 {
        self.news_word().load(Ordering::Acquire)
    }

    /// Tells its node that it is time to try again; a node that sleeps is to be woken afterwards.
    pub fn add_news(&self) {
        self.news_word().fetch_add(1, Ordering::SeqCst);
    }

    fn news_word(&self) -> &AtomicU64 {
        // SAFETY: an atomic, for which every bit pattern is a value.
        let words: &[AtomicU64] = unsafe { self.slots.atomics(NEWS_AT, 1) };
        &words[0]
    }

    fn slot(&self, slot: u32) -> Option<&Slot> {
        // SAFETY: `Slot` consists of atomics, for which every bit pattern is a value.
        unsafe { self.slots.atomics::<Slot>(0, SLOTS) }.get(slot as usize)
    }

    /// Publishes a region on a slot that is free and drained. Owner only.
    ///
    /// # Panics
    /// If there is no such slot.
    pub fn publish(&self, slot: u32, generation: u64, notice: Notice) {
        let slot = self.slot(slot).expect("the owner counts its slots");
        slot.row.store(notice.share.map_or(NOT_SHARED, |share| share.row), Ordering::Relaxed);
        slot.row_offset.store(notice.share.map_or(0, |share| share.offset), Ordering::Relaxed);
        let of_device = if notice.is_of_device { OF_DEVICE } else { 0 };
        let writable = if notice.writable { WRITABLE } else { 0 };
        slot.kind.store(writable | of_device, Ordering::Relaxed);
        slot.address.store(notice.address, Ordering::Relaxed);
        slot.len.store(notice.len, Ordering::Relaxed);
        slot.claim.publish(generation);
    }

    /// The pieces of a copy to a region that a neighbour helps with.
    pub fn division(&self, slot: u32) -> Option<&DivisionWord> {
        self.slot(slot).map(|slot| &slot.division)
    }

    /// Ends a region; its memory may go once `is_drained`. Owner only.
    pub fn retire(&self, slot: u32) {
        if let Some(slot) = self.slot(slot) {
            slot.claim.retire();
        }
    }

    /// Whether a retired slot is no longer touched by anybody.
    pub fn is_drained(&self, slot: u32) -> bool {
        self.slot(slot).is_none_or(|slot| slot.claim.is_drained())
    }

    /// Whether anybody holds a claim on this slot.
    pub fn is_claimed(&self, slot: u32) -> bool {
        self.slot(slot).is_some_and(|slot| slot.claim.is_claimed())
    }

    /// Claims a region and reads what its owner published.
    ///
    /// # Errors
    /// [`ClaimDenied`]: a slot that does not exist is stale.
    pub fn claim(&self, slot: u32, generation: u64, mode: ClaimMode) -> Result<Notice, ClaimDenied> {
        let slot = self.slot(slot).filter(|_| generation != 0).ok_or(ClaimDenied::Stale(0))?;
        slot.claim.claim(generation, mode)?;
        Ok(slot.notice())
    }

    /// What a live region's owner published, without a claim: true when it was read, a hint from then on.
    pub fn peek(&self, slot: u32, generation: u64) -> Option<Notice> {
        let slot = self.slot(slot).filter(|slot| generation != 0 && slot.claim.is_live(generation))?;
        Some(slot.notice())
    }

    /// Gives a granted claim back. Returns who is to be told.
    #[must_use = "those who asked wait for it"]
    pub fn release(&self, slot: u32, mode: ClaimMode) -> Askers {
        self.slot(slot).map_or(0, |slot| slot.claim.release(mode))
    }

    /// Asks for news of the end of the claims that are in the way of a claim with this mode, or of any claim. Returns whether there are
    /// such, so that news will come.
    pub fn ask(&self, slot: u32, mode: Option<ClaimMode>, askers: Askers) -> bool {
        self.slot(slot).is_some_and(|slot| slot.claim.ask(mode, askers))
    }
}
