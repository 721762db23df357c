//! Streaming: rows of blocks whose whole lines are stored past the caches, assembled in the first cache where blocks become one piece.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::{blocks, lines};
use crate::plan::Footprint;
use crate::plan::nest::Pair;
use crate::value::sums::gcd;
use std::ops::RangeInclusive;

/// Bytes that are assembled at a time: they stay in the first cache, twice.
pub(crate) const STAGE: usize = 4096;

/// Longer blocks are lines by themselves.
const ASSEMBLED_BLOCK_MAX: u64 = 1024;

/// Bytes of a line.
const LINE: u64 = lines::LINE as u64;

/// From so many bytes on, what is written would only push out of the caches what is needed there.
const WRITTEN_BYTES_MIN: u64 = 4 << 20;

/// Shorter rows are not worth a stage.
const ASSEMBLED_ROW_MIN: u64 = 4096;

/// From so many bytes of both sides on, with what lies between, a second cache of 2 MiB does not hold what a copy touches. Measured with
/// every second block of 256 bytes on both sides: 1 MiB takes 73 us for 107 out of the own cache, 512 KiB 28 for 27.
const TOUCHED_BYTES_MIN: u64 = 3 << 20;

/// Bytes of blocks that lie apart, at least and at most: measured with 128, 256 and 1024, which gain, and 4096, which do not, since the
/// hardware foresees longer ones well enough.
const APART_BLOCKS: RangeInclusive<u64> = 128..=1024;

/// Which rows of a copy are stored past the caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Streamed {
    None,
    /// Those whose blocks lie apart in the target and are whole lines. Stored through the caches, they have lines read that they
    /// overwrite, and by the hardware's foresight what lies between, too.
    Apart,
    /// Those that become one piece, too.
    All,
}

impl Streamed {
    /// Those of a plan, which take less time so.
    pub(crate) fn of(footprint: Footprint) -> Self {
        if footprint.bytes >= WRITTEN_BYTES_MIN {
            Self::All
        } else if footprint.touched_bytes >= TOUCHED_BYTES_MIN {
            Self::Apart
        } else {
            Self::None
        }
    }

    /// Whether a row of blocks, the first of which goes to `target`, is one of them.
    pub(crate) fn has(self, row: Pair, block: u64, target: *const u8) -> bool {
        let is_one_piece = row.target == block as i64;
        // The rest of a line that is stored in part would be read after all.
        let are_lines = || (target.addr() as u64 | row.target.unsigned_abs() | block).is_multiple_of(LINE);
        match self {
            Self::None => false,
            Self::All if is_one_piece => row.count * block >= ASSEMBLED_ROW_MIN,
            Self::All | Self::Apart => !is_one_piece && APART_BLOCKS.contains(&block) && are_lines(),
        }
    }
}

/// Memory of a copy alone, by whole lines.
#[repr(align(64))]
pub(crate) struct Stage(pub(crate) [u8; STAGE]);

/// Copies `block` bytes at each step of `pair`.
///
/// # Safety
/// All blocks of the source may be read and all of the target written; they share no byte.
pub(crate) unsafe fn row(source: *const u8, target: *mut u8, pair: Pair, block: u64) {
    let at = |step: u64| {
        (
            source.wrapping_offset((step as isize).wrapping_mul(pair.source as isize)),
            target.wrapping_offset((step as isize).wrapping_mul(pair.target as isize)),
        )
    };
    if block > ASSEMBLED_BLOCK_MAX || pair.target != block as i64 {
        for step in 0..pair.count {
            let (source, target) = at(step);
            // SAFETY: both are at a step of the loop.
            unsafe { lines::stream(source, target, block as usize) };
        }
        return;
    }
    let mut stage = Stage([0; STAGE]);
    // So many blocks are whole lines.
    let round = LINE / gcd(LINE, block);
    let most = STAGE as u64 / block;
    let most = if most >= round { most - most % round } else { most };
    let mut step = 0;
    while step < pair.count {
        let count = most.min(pair.count - step);
        let (source, target) = at(step);
        let assembled = stage.0.as_mut_ptr();
        // SAFETY: these are steps of the loop; the stage holds `most` blocks and is nobody else's.
        unsafe {
            blocks::strided(source, assembled, Pair { count, ..pair }, block);
            lines::stream(assembled, target, (count * block) as usize);
        }
        step += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_apart_go_past_the_caches_where_they_are_whole_lines() {
        let (every, place) = (|target| Pair { count: 8, source: 300, target }, std::ptr::dangling::<Stage>());
        let has = |row, block, by| Streamed::Apart.has(row, block, place.cast::<u8>().wrapping_add(by));
        assert!(has(every(512), 128, 0) && has(every(1088), 1024, 64) && has(every(-512), 256, 0));
        assert!(!has(every(512), 256, 8) && !has(every(520), 256, 0) && !has(every(512), 200, 0));
        assert!(!has(every(512), 64, 0) && !has(every(8192), 4096, 0) && !has(every(256), 256, 0));

        let source: Vec<u8> = (0..8 * 300).map(|place| place as u8).collect();
        let mut target = Stage([0xee; STAGE]);
        // SAFETY: eight blocks of 256 bytes lie in both, and nobody else has these.
        unsafe { row(source.as_ptr(), target.0.as_mut_ptr(), every(512), 256) };
        lines::fence();
        for (step, chunk) in target.0.chunks(512).enumerate() {
            assert_eq!(chunk[..256], source[step * 300..step * 300 + 256]);
            assert!(chunk[256..].iter().all(|byte| *byte == 0xee));
        }
    }
}
