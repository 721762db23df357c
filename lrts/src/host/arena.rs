#![expect(unsafe_code, reason = "hands out parts of shared mappings as owned memory")]
//! Arenas: memory of this node that its neighbours map, so that they read and write it in place.
//!
//! 1. An arena is one shared memory object, a multiple of 2 MiB long, numbered from 0 on. It is never unmapped
//!    before the job ends: a neighbour keeps its mapping, and a number means one object forever.
//! 2. An arena is used only after its announcement has entered the link of every living neighbour, so no key
//!    into it can arrive before it. When a link is full, the arena waits and the caller is refused.
//! 3. Memory is cut in units of 64 bytes and returns to its arena when its owner is dropped, on any thread.
//! 4. When no arena has room, a new one is made: twice as long as the last, or as long as the request needs.

use crate::host::link::Link;
use crate::host::mapping::Mapping;
use crate::ids::NodeId;
use crate::memory::{MemoryMut, Share};
use offset_allocator::{Allocation, Allocator};
use parking_lot::Mutex;
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use thiserror::Error;

/// Alignment and grain: a cache line, and what the widest vector types need.
const UNIT_BYTES: usize = 64;

/// Huge pages of every architecture we run on fit in multiples of this.
const ARENA_GRAIN_BYTES: usize = 2 << 20;

/// The second and later arenas double up to this length: backing one takes some 20 ms, and
/// that much may lie idle.
const ARENA_GROWTH_BYTES_MAX: usize = 64 << 20;

/// The longest arena: the allocator counts units in 32 bits and rounds up within them.
const ARENA_BYTES_MAX: usize = 64 << 30;

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
        /// What was asked for.
        len: usize,
    },
    /// All numbers are taken.
    #[error("all {ARENAS_MAX} arenas are in use")]
    TooMany,
    /// A neighbour has not yet taken earlier announcements; later calls will succeed.
    #[error("{peer} could not yet be told of a new arena: {source}")]
    Unannounced {
        /// Who.
        peer: NodeId,
        /// What its link said.
        source: io::Error,
    },
}

struct Arena {
    mapping: Mapping,
    allocator: Allocator,
}

struct Pending {
    mapping: Mapping,
    descriptor: OwnedFd,
    untold: Vec<Arc<Link>>,
}

struct Growth {
    /// An arena that some neighbours do not know yet.
    pending: Option<Pending>,
    next_bytes: usize,
    /// The kernel had no memory; it is asked again from then on.
    retry_at: Option<Instant>,
}

/// The shareable memory of one node.
pub struct Arenas {
    audience: Vec<Arc<Link>>,
    pool: Mutex<Vec<Arena>>,
    /// Held while an arena is made, so that only one is; `pool` is taken under it, never the reverse.
    growth: Mutex<Growth>,
}

/// Keeps one piece; gives it back on drop.
struct Lease {
    arenas: Arc<Arenas>,
    arena: u32,
    piece: Allocation,
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.arenas.pool.lock()[self.arena as usize].allocator.free(self.piece);
    }
}

impl Arenas {
    pub(crate) fn new(audience: Vec<Arc<Link>>) -> Self {
        let growth = Growth { pending: None, next_bytes: 2 * ARENA_GRAIN_BYTES, retry_at: None };
        Self { audience, pool: Mutex::default(), growth: Mutex::new(growth) }
    }

    /// `len` bytes of shareable memory, 64-byte aligned, with whatever bytes were there before.
    ///
    /// Constant time while an arena has room; otherwise the kernel makes one, which takes about
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
        self.grow(&mut growth, units)?;
        self.tell(&mut growth)?;
        self.cut(len, units).ok_or(ArenaError::TooMany)
    }

    /// Bytes of all arenas together, used or not.
    pub fn total_bytes(&self) -> usize {
        self.pool.lock().iter().map(|arena| arena.mapping.len()).sum()
    }

    /// A piece of an arena that has room.
    fn cut(self: &Arc<Self>, len: usize, units: u32) -> Option<MemoryMut> {
        let mut pool = self.pool.lock();
        // The newest is the longest and the emptiest.
        let (number, piece) = pool
            .iter_mut()
            .enumerate()
            .rev()
            .find_map(|(number, arena)| Some((number, arena.allocator.allocate(units)?)))?;
        let offset = piece.offset as usize * UNIT_BYTES;
        let address = pool[number].mapping.address().wrapping_add(offset);
        let share = Share { arena: number as u32, offset: offset as u64 };
        let owner = Box::new(Lease { arenas: Arc::clone(self), arena: number as u32, piece });
        drop(pool);
        // SAFETY: the allocator gave this piece to nobody else until the lease is dropped; it lies
        // inside a mapping that lives as long as `self`, which the lease holds; its bytes come
        // initialised (zero) from the kernel. Neighbours touch them under a claim only.
        Some(unsafe { MemoryMut::from_raw_parts(address, len, Some(share), owner) })
    }

    fn grow(&self, growth: &mut Growth, units: u32) -> Result<(), ArenaError> {
        if self.pool.lock().len() == ARENAS_MAX {
            return Err(ArenaError::TooMany);
        }
        // The allocator finds a piece only in a free range that is as long as the piece's size class.
        let needed = offset_allocator::ext::min_allocator_size(units) as usize * UNIT_BYTES;
        let len = needed.max(growth.next_bytes).next_multiple_of(ARENA_GRAIN_BYTES);
        if growth.retry_at.is_some_and(|retry_at| Instant::now() < retry_at) {
            return Err(ArenaError::Exhausted);
        }
        let (mapping, descriptor) = Mapping::create("chare-arena", len).inspect_err(|_| {
            growth.retry_at = Some(Instant::now() + RETRY_AFTER);
        })?;
        mapping.populate();
        growth.next_bytes = (2 * growth.next_bytes).min(ARENA_GROWTH_BYTES_MAX);
        growth.pending = Some(Pending { mapping, descriptor, untold: self.audience.clone() });
        Ok(())
    }

    /// Tells the neighbours of a pending arena; opens it for use once all know it.
    fn tell(&self, growth: &mut Growth) -> Result<(), ArenaError> {
        let Some(mut pending) = growth.pending.take() else { return Ok(()) };
        let number = self.pool.lock().len() as u32;
        while let Some(link) = pending.untold.last() {
            match link.announce(number, pending.mapping.len() as u64, pending.descriptor.as_fd()) {
                // The dead need not know.
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
        let units = (pending.mapping.len() / UNIT_BYTES) as u32;
        let allocator = Allocator::with_max_allocs(units, PIECES_MAX);
        self.pool.lock().push(Arena { mapping: pending.mapping, allocator });
        Ok(())
    }
}

/// How many units hold `len` bytes; at least one, so that empty memory has a place too.
fn units_for(len: usize) -> Result<u32, ArenaError> {
    if len > ARENA_BYTES_MAX {
        return Err(ArenaError::TooLong { len });
    }
    Ok(len.div_ceil(UNIT_BYTES).max(1) as u32)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use rustix::net::{AddressFamily, SocketFlags, SocketType};

    fn alone() -> Arc<Arenas> {
        Arc::new(Arenas::new(Vec::new()))
    }

    #[test]
    fn pieces_are_aligned_distinct_and_return() {
        let arenas = alone();
        let mut pieces: Vec<MemoryMut> = [0, 1, 63, 64, 65, 4096, 1 << 20]
            .into_iter()
            .map(|len| arenas.allocate(len).expect("memory"))
            .collect();
        for (index, piece) in pieces.iter_mut().enumerate() {
            assert_eq!(piece.address() as usize % UNIT_BYTES, 0);
            assert!(piece.share().is_some());
            piece.as_mut_slice().fill(index as u8);
        }
        for (index, piece) in pieces.iter().enumerate() {
            assert!(piece.as_slice().iter().all(|&byte| byte == index as u8));
        }
        let total = arenas.total_bytes();
        for _ in 0..100 {
            drop(arenas.allocate(1 << 20).expect("memory"));
        }
        assert_eq!(arenas.total_bytes(), total, "freed pieces are used again");
    }

    #[test]
    fn a_long_request_gets_an_arena_that_serves_others_later() {
        let arenas = alone();
        for len in [(8 << 20) - 1, 8 << 20, (8 << 20) + 1] {
            let long = arenas.allocate(len).expect("memory");
            assert_eq!(long.len(), len);
        }
        let total = arenas.total_bytes();
        let many: Vec<_> = (0..64).map(|_| arenas.allocate(64 << 10).expect("memory")).collect();
        assert_eq!(arenas.total_bytes(), total);
        std::thread::scope(|scope| {
            scope.spawn(move || drop(many));
        });
    }

    #[test]
    fn what_cannot_be_is_a_typed_error() {
        let arenas = alone();
        assert!(matches!(arenas.allocate(ARENA_BYTES_MAX + 1), Err(ArenaError::TooLong { .. })));
        assert!(matches!(arenas.allocate(usize::MAX), Err(ArenaError::TooLong { .. })));
    }

    #[test]
    fn an_arena_is_not_used_before_all_neighbours_know_it() {
        let (here, there) = rustix::net::socketpair(
            AddressFamily::UNIX,
            SocketType::SEQPACKET,
            SocketFlags::CLOEXEC | SocketFlags::NONBLOCK,
            None,
        )
        .expect("sockets");
        let link = Arc::new(Link::new(NodeId(1), here));
        let filler = rustix::fs::memfd_create("filler", rustix::fs::MemfdFlags::CLOEXEC).expect("memory");
        while link.announce(0, 1, filler.as_fd()).is_ok() {}
        let arenas = Arc::new(Arenas::new(vec![link]));
        for _ in 0..3 {
            assert!(matches!(arenas.allocate(100), Err(ArenaError::Unannounced { peer: NodeId(1), .. })));
        }
        let reader = Link::new(NodeId(0), there);
        while matches!(reader.receive(), crate::host::link::Received::Message(_)) {}
        let piece = arenas.allocate(100).expect("the socket has room again");
        assert_eq!(piece.share(), Some(Share { arena: 0, offset: 0 }));
        drop(reader);
        assert!(arenas.allocate(100 << 20).is_ok(), "a dead neighbour stops nobody");
    }
}
