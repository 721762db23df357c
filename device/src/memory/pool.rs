//! Pools: arenas of one kind, made as blocks need them, up to a bound.

use crate::memory::arena::{Arena, Piece, UNIT_BYTES};
use crate::memory::mapping::{Domain, Mapping};
use crate::words::error::DeviceError;
use crate::words::info::Info;
use parking_lot::Mutex;
use std::sync::Arc;

/// The first arena; each later one has twice as many bytes, up to [`GROWTH_BYTES_MAX`]. Arenas are multiples of it: the grain of
/// CUDA's own.
const FIRST_BYTES: u64 = 2 << 20;

/// Longer arenas are made for longer blocks only.
const GROWTH_BYTES_MAX: u64 = 256 << 20;

/// The longest arena: the allocator counts units in 32 bits and rounds up within them.
const ARENA_BYTES_MAX: u64 = 256 << 30;

/// Arenas of one kind. They are kept until the device and all that was cut from them are gone.
pub(crate) struct Pool {
    owner: Arc<Info>,
    domain: Domain,
    most: u64,
    arenas: Mutex<Vec<Arena>>,
}

impl Pool {
    /// A pool of at most `most` bytes, rounded up to whole arenas.
    pub(crate) fn new(owner: &Arc<Info>, domain: Domain, most: u64) -> Self {
        let most = most.checked_next_multiple_of(FIRST_BYTES).unwrap_or(u64::MAX - FIRST_BYTES + 1);
        Self { owner: Arc::clone(owner), domain, most, arenas: Mutex::default() }
    }

    /// Cuts a piece; `make` makes an arena of so many bytes where none has room.
    pub(crate) fn cut(
        &self,
        len: u64,
        make: impl FnOnce(u64) -> Result<Box<dyn Mapping>, DeviceError>,
    ) -> Result<Piece, DeviceError> {
        let mut arenas = self.arenas.lock();
        // The newest is the longest and the emptiest.
        if let Some(piece) = arenas.iter().rev().find_map(|arena| Piece::cut(arena, len)) {
            return Ok(piece);
        }
        let used: u64 = arenas.iter().map(Arena::len).sum();
        let growth = arenas.last().map_or(FIRST_BYTES, |last| (2 * last.len()).min(GROWTH_BYTES_MAX));
        let left = self.most - used;
        let bytes = needed_bytes(len)
            .map(|needed| needed.max(growth.min(left)).next_multiple_of(FIRST_BYTES))
            .filter(|bytes| *bytes <= left)
            .ok_or_else(|| self.exhausted(len))?;
        let arena = Arena::new(&self.owner, make(bytes)?);
        let piece = Piece::cut(&arena, len).expect("the arena was made for it");
        arenas.push(arena);
        Ok(piece)
    }

    fn exhausted(&self, asked: u64) -> DeviceError {
        let (device, most) = (self.owner.to_string(), self.most);
        match self.domain {
            Domain::Host => DeviceError::NoRoom { device, asked, most },
            Domain::Device => DeviceError::OutOfMemory { device, asked, most },
        }
    }
}

/// How long an arena must be: the allocator finds a piece only in a free range that is as long as the piece's size class.
fn needed_bytes(len: u64) -> Option<u64> {
    if len > ARENA_BYTES_MAX {
        return None;
    }
    let units = u32::try_from(len.div_ceil(UNIT_BYTES).max(1)).ok()?;
    Some(u64::from(offset_allocator::ext::min_allocator_size(units)) * UNIT_BYTES)
}
