//! Arenas: memory of this node that its neighbours map, so that they read and write it in place.
//!
//! 1. An arena is one shared memory object, a multiple of 2 MiB long. It is never unmapped before the job ends: a neighbour keeps its
//!    mapping. Arenas stand in rows, one behind the other in a range of addresses, here and in every neighbour: what lies in a row has the
//!    same distances everywhere. When one finds no room there, a new row begins.
//! 2. An arena is used only after its announcement has entered the link of every living neighbour, so no key
//!    into it can arrive before it. When a link is full, the arena waits and the caller is refused.
//! 3. Memory is cut in units of 64 bytes and returns to its arena when its owner is dropped, on any thread.
//! 4. When no arena has room, a new one is made: twice as long as the last, or as long as the request needs.
//! 5. An arena that stays empty for a while gives its pages back to the system, unless it is short; it stays mapped, as zeros. Before
//!    it is used again it is backed again, as a whole, so that a full machine is an error there, too.
//! 6. The pages of an arena that grew are put together to huge ones, one at a time, while nobody has anything to do (`huge_pages`).

#![expect(unsafe_code, reason = "hands out parts of shared mappings as owned memory")]

mod backing;
mod huge_pages;
mod row;

pub(in crate::host) use row::reserve;

use crate::ambient::clock;
use crate::host::link::Link;
use crate::ids::NodeId;
use crate::mapping::{HUGE_PAGE_BYTES, Mapping};
use crate::memory::{MemoryMut, Share};
use backing::{Backing, EMPTY_FOR};
use huge_pages::{PAUSE, Pace, REST, SmallPages};
use offset_allocator::{Allocation, Allocator};
use parking_lot::Mutex;
use row::Rows;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Alignment and grain: a cache line, and what the widest vector types need.
const UNIT_BYTES: usize = 64;

/// Arenas are multiples of this, so that huge pages fit.
pub(crate) const ARENA_GRAIN_BYTES: usize = HUGE_PAGE_BYTES;

/// The first arena. So short a one is never given back: a program that shares memory at all will need it again.
const FIRST_BYTES: usize = 2 * ARENA_GRAIN_BYTES;

/// The second and later arenas double up to this length: backing one takes some 20 ms, and
/// that much may lie idle.
const ARENA_GROWTH_BYTES_MAX: usize = 64 << 20;

/// The longest arena: the allocator counts units in 32 bits and rounds up within them.
pub(crate) const ARENA_BYTES_MAX: usize = 64 << 30;

/// Numbers that a neighbour accepts.
pub(crate) const ARENAS_MAX: usize = 4096;

/// Pieces that one arena can be cut into; the allocator's table takes 32 bytes for each.
const PIECES_MAX: u32 = 16_384;

/// How long the kernel is left alone after it had no memory: finding that out takes it milliseconds.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Why there is no shareable memory now. Ordinary memory serves instead: peers copy it.
#[derive(Debug, Error)]
pub enum ArenaError {
    /// The kernel refused.
    #[error("no shareable memory: {0}; ordinary memory is used, which costs a copy")]
    System(#[from] io::Error),
    /// The kernel refused a moment ago and is not asked again yet.
    #[error("no shareable memory was left a moment ago; ordinary memory is used, which costs a copy")]
    Exhausted,
    /// More than an arena can hold.
    #[error("{len} bytes exceed the longest arena of {ARENA_BYTES_MAX} bytes")]
    TooLong {
        /// The bytes that were asked for.
        len: usize,
    },
    /// All numbers are taken.
    #[error("all {ARENAS_MAX} arenas are in use")]
    TooMany,
    /// A neighbour has not yet taken earlier announcements; later calls will succeed.
    #[error("{peer} could not yet be told of a new arena: {source}")]
    Unannounced {
        /// The neighbour.
        peer: NodeId,
        /// The error of its link.
        source: io::Error,
    },
}

struct Arena {
    mapping: Arc<Mapping>,
    /// Its first byte.
    start: Share,
    allocator: Allocator,
    /// Pieces in use.
    pieces: u32,
    /// Pieces ever cut: tells whether it was used since the last look.
    cuts: u64,
    backing: Backing,
    small_pages: SmallPages,
}

struct Pending {
    mapping: Mapping,
    start: Share,
    descriptor: OwnedFd,
    untold: Vec<Arc<Link>>,
}

struct Growth {
    rows: Rows,
    /// An arena that some neighbours do not know yet.
    pending: Option<Pending>,
    next_bytes: usize,
    kernel: Kernel,
    huge_pages: Pace,
}

/// The shareable memory of one node.
pub struct Arenas {
    audience: Vec<Arc<Link>>,
    pool: Mutex<Vec<Arena>>,
    /// Held while an arena is made, so that only one is; `pool` is taken under it, never the reverse.
    growth: Mutex<Growth>,
    /// Longest arenas that are made where a buffer needs no longer one. Written by any thread; nothing else depends on it.
    growth_bytes_max: AtomicUsize,
}

/// Keeps one piece; gives it back on drop.
struct Piece {
    arenas: Arc<Arenas>,
    arena: u32,
    piece: Allocation,
}

impl Drop for Piece {
    fn drop(&mut self) {
        let arena = &mut self.arenas.pool.lock()[self.arena as usize];
        arena.allocator.free(self.piece);
        arena.pieces -= 1;
    }
}

impl Arenas {
    pub(crate) fn new(audience: Vec<Arc<Link>>) -> Self {
        let growth = Growth {
            rows: Rows::default(),
            pending: None,
            next_bytes: FIRST_BYTES,
            kernel: Kernel::default(),
            huge_pages: Pace::default(),
        };
        let growth_bytes_max = AtomicUsize::new(ARENA_GROWTH_BYTES_MAX);
        Self { audience, pool: Mutex::default(), growth: Mutex::new(growth), growth_bytes_max }
    }

    /// `len` bytes of shareable memory, 64-byte aligned, with whatever bytes were there before.
    ///
    /// Constant time while an arena has room; otherwise the kernel makes or backs one, which takes about
    /// 0.3 ms per MiB. Rounded up by at most an eighth.
    ///
    /// # Errors
    /// [`ArenaError`]; take ordinary memory then.
    pub fn allocate(self: &Arc<Self>, len: usize) -> Result<MemoryMut, ArenaError> {
        let units = units_for(len)?;
        if let Some(memory) = self.cut(len, units) {
            return Ok(memory);
        }
        let mut growth = self.growth.lock();
        // Another thread may have made an arena meanwhile, or an earlier one may only wait to be told of.
        self.tell(&mut growth)?;
        if let Some(memory) = self.cut(len, units) {
            return Ok(memory);
        }
        if self.back_again(&mut growth, units)?
            && let Some(memory) = self.cut(len, units)
        {
            return Ok(memory);
        }
        self.grow(&mut growth, units)?;
        self.tell(&mut growth)?;
        self.cut(len, units).ok_or(ArenaError::TooMany)
    }

    /// Has arenas be no longer than this, where a buffer needs no longer one; for a host that has little memory left.
    pub fn limit_growth(&self, bytes: usize) {
        self.growth_bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// Bytes of all arenas together, used or not.
    pub fn total_bytes(&self) -> usize {
        self.pool.lock().iter().map(|arena| arena.mapping.len()).sum()
    }

    /// Gives the pages of arenas that have long been empty back to the system. Returns how long until the next one may be due, if there
    /// is one. Two locks if there is nothing to do.
    pub fn give_back(&self, now: Instant) -> Option<Duration> {
        // The thread that holds it is making or backing an arena.
        let Some(_growth) = self.growth.try_lock() else { return Some(EMPTY_FOR) };
        let mut next: Option<Duration> = None;
        let mut given_back = Vec::new();
        for arena in self.pool.lock().iter_mut() {
            match arena.backing.due(arena.pieces == 0, arena.cuts, now) {
                None => {}
                Some(Duration::ZERO) => {
                    arena.backing = Backing::GivenBack;
                    given_back.push(Arc::clone(&arena.mapping));
                }
                Some(wait) => next = Some(next.map_or(wait, |next| next.min(wait))),
            }
        }
        for mapping in given_back {
            // SAFETY: nobody cuts pieces of it while it is given back, none is in use, and who backs it again waits for `growth`.
            // Neighbours touch pieces only.
            unsafe { mapping.give_back() };
        }
        next
    }

    /// Puts the small pages of an arena that grew together to the next huge page, if one is left and due and the thread has rested for
    /// long enough. Returns how long until the one after it is due, if there is one. Two locks if there is nothing to do.
    pub fn put_together(&self, now: Instant, rested: Duration) -> Option<Duration> {
        // The thread that holds it is making or backing an arena, or does this.
        let Some(mut growth) = self.growth.try_lock() else { return Some(PAUSE) };
        let (mapping, start) = {
            let mut pool = self.pool.lock();
            let mut backed = pool.iter_mut().filter(|arena| !arena.backing.is_given_back());
            let arena = backed.find(|arena| arena.small_pages.are_left())?;
            if rested < REST {
                return Some(REST - rested);
            }
            if let Some(wait) = growth.huge_pages.wait(now) {
                return Some(wait);
            }
            (Arc::clone(&arena.mapping), arena.small_pages.take())
        };
        // What cannot be one now has small pages for good.
        let _ = mapping.collapse(start, HUGE_PAGE_BYTES);
        Some(PAUSE)
    }

    /// Backs the shortest arena that was given back and has room, unless that is far longer than a new one would be. Returns whether
    /// there was one.
    fn back_again(&self, growth: &mut Growth, units: u32) -> Result<bool, ArenaError> {
        let needed = needed_bytes(units);
        let fits = needed..=2 * needed.max(growth.next_bytes);
        let found = {
            let pool = self.pool.lock();
            let empty = pool.iter().enumerate().filter(|(_, arena)| arena.backing.is_given_back());
            let fitting = empty.filter(|(_, arena)| fits.contains(&arena.mapping.len()));
            let shortest = fitting.min_by_key(|(_, arena)| arena.mapping.len());
            shortest.map(|(number, arena)| (number, Arc::clone(&arena.mapping)))
        };
        let Some((number, mapping)) = found else { return Ok(false) };
        growth.kernel.ask(|| mapping.back_again())?;
        let arena = &mut self.pool.lock()[number];
        (arena.backing, arena.small_pages) = (Backing::UNTIL_EMPTY, SmallPages::of(&mapping));
        Ok(true)
    }

    /// A piece of an arena that has room.
    fn cut(self: &Arc<Self>, len: usize, units: u32) -> Option<MemoryMut> {
        let mut pool = self.pool.lock();
        // The newest is the longest and the emptiest.
        let (number, piece) = pool
            .iter_mut()
            .enumerate()
            .rev()
            .filter(|(_, arena)| !arena.backing.is_given_back())
            .find_map(|(number, arena)| Some((number, arena.allocator.allocate(units)?)))?;
        pool[number].pieces += 1;
        pool[number].cuts += 1;
        let offset = piece.offset as usize * UNIT_BYTES;
        let address = pool[number].mapping.address().wrapping_add(offset);
        let Share { row, offset: start } = pool[number].start;
        let share = Share { row, offset: start + offset as u64 };
        let owner = Box::new(Piece { arenas: Arc::clone(self), arena: number as u32, piece });
        drop(pool);
        // SAFETY: the allocator gave this piece to nobody else until the lease is dropped; it lies
        // inside a mapping that lives as long as `self`, which the piece holds; its bytes come
        // initialised (zero) from the kernel. Neighbours touch them under a claim only.
        Some(unsafe { MemoryMut::from_raw_parts(address, len, Some(share), owner) })
    }

    fn grow(&self, growth: &mut Growth, units: u32) -> Result<(), ArenaError> {
        if self.pool.lock().len() == ARENAS_MAX {
            return Err(ArenaError::TooMany);
        }
        let step = growth.next_bytes.min(self.growth_bytes_max.load(Ordering::Relaxed));
        let len = needed_bytes(units).max(step).next_multiple_of(ARENA_GRAIN_BYTES);
        let (mapping, start, descriptor) = growth.kernel.ask(|| growth.rows.add(len))?;
        mapping.populate(0, len);
        growth.next_bytes = (2 * growth.next_bytes).min(ARENA_GROWTH_BYTES_MAX);
        growth.pending = Some(Pending { mapping, start, descriptor, untold: self.audience.clone() });
        Ok(())
    }

    /// Tells the neighbours of a pending arena; opens it for use once all know it.
    fn tell(&self, growth: &mut Growth) -> Result<(), ArenaError> {
        let Some(mut pending) = growth.pending.take() else { return Ok(()) };
        while let Some(link) = pending.untold.last() {
            match link.announce(pending.start.row, pending.mapping.len() as u64, pending.descriptor.as_fd()) {
                // A dead neighbour need not know.
                Ok(()) | Err(Errno::PIPE | Errno::CONNRESET | Errno::NOTCONN) => {
                    pending.untold.pop();
                }
                Err(error) => {
                    let peer = link.peer();
                    growth.pending = Some(pending);
                    return Err(ArenaError::Unannounced { peer, source: error.into() });
                }
            }
        }
        let start = pending.start;
        let units = (pending.mapping.len() / UNIT_BYTES) as u32;
        let allocator = Allocator::with_max_allocs(units, PIECES_MAX);
        let has_grown = pending.mapping.len() > FIRST_BYTES;
        let mapping = Arc::new(pending.mapping);
        let can_return = has_grown && Mapping::can_be_backed_again();
        let backing = if can_return { Backing::UNTIL_EMPTY } else { Backing::Kept };
        let small_pages = if has_grown { SmallPages::of(&mapping) } else { SmallPages::kept() };
        self.pool.lock().push(Arena { mapping, start, allocator, pieces: 0, cuts: 0, backing, small_pages });
        Ok(())
    }
}

/// The kernel, which is asked for memory.
#[derive(Default)]
struct Kernel {
    /// It had none; it is asked again from then on.
    retry_at: Option<Instant>,
}

impl Kernel {
    /// Asks for memory, unless there was none a moment ago.
    fn ask<T>(&mut self, ask: impl FnOnce() -> io::Result<T>) -> Result<T, ArenaError> {
        if self.retry_at.is_some_and(|retry_at| clock::now() < retry_at) {
            return Err(ArenaError::Exhausted);
        }
        ask().map_err(|error| {
            self.retry_at = Some(clock::now() + RETRY_AFTER);
            ArenaError::System(error)
        })
    }
}

/// How long an arena must be: the allocator finds a piece only in a free range that is as long as the piece's size class.
fn needed_bytes(units: u32) -> usize {
    offset_allocator::ext::min_allocator_size(units) as usize * UNIT_BYTES
}

/// How many units hold `len` bytes; at least one, so that empty memory has a place too.
fn units_for(len: usize) -> Result<u32, ArenaError> {
    if len > ARENA_BYTES_MAX {
        return Err(ArenaError::TooLong { len });
    }
    Ok(len.div_ceil(UNIT_BYTES).max(1) as u32)
}

#[cfg(test)]
mod tests;
