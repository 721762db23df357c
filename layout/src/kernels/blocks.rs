//! Blocks at even distances: constant sizes in registers, `memcpy` above.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::{AHEAD, by_block, prefetch};
use crate::plan::nest::Pair;

/// From so many bytes on, the hardware does not foresee the next block that is read, if only because few are on a page (measured: blocks of
/// 12 bytes packed out of 2 MiB, every 512, 1024 and 2048 bytes: 1.1, 1.4 and 1.5 ns each for 1.5, 2.3 and 2.3 without; every 256: no
/// difference, nor beyond the caches).
const FAR: u64 = 512;

/// From so many bytes on, on both sides, reads and writes that miss the caches wait for each other (measured: faces across the
/// rows of grids). Writes alone do not wait, and asking for their places takes longer than it saves.
const BOTH_FAR: u64 = 1024;

/// Copies `block` bytes at each step of `pair`.
///
/// # Safety
/// All blocks of the source may be read and all of the target written; they share no byte.
pub(crate) unsafe fn strided(source: *const u8, target: *mut u8, pair: Pair, block: u64) {
    let (source_stride, target_stride) = (pair.source.unsigned_abs(), pair.target.unsigned_abs());
    // SAFETY: the caller's promise is that of each of them.
    unsafe {
        if source_stride.min(target_stride) >= BOTH_FAR {
            by_block!(block, both_far(source, target, pair), general(source, target, pair, block));
        } else if source_stride >= FAR {
            by_block!(block, far(source, target, pair), general(source, target, pair, block));
        } else {
            by_block!(block, near(source, target, pair), general(source, target, pair, block));
        }
    }
}

/// # Safety
/// As for [`strided`], with blocks of `N` bytes.
unsafe fn near<const N: usize>(mut source: *const u8, mut target: *mut u8, pair: Pair) {
    for _ in 0..pair.count {
        // SAFETY: both pointers are at a step of the loop.
        unsafe { std::ptr::copy_nonoverlapping(source, target, N) };
        source = source.wrapping_offset(pair.source as isize);
        target = target.wrapping_offset(pair.target as isize);
    }
}

/// # Safety
/// As for [`strided`], with blocks of `N` bytes.
unsafe fn far<const N: usize>(mut source: *const u8, mut target: *mut u8, pair: Pair) {
    let ahead = (pair.source as isize).wrapping_mul(AHEAD as isize);
    for _ in 0..pair.count {
        prefetch(source.wrapping_offset(ahead));
        // SAFETY: both pointers are at a step of the loop.
        unsafe { std::ptr::copy_nonoverlapping(source, target, N) };
        source = source.wrapping_offset(pair.source as isize);
        target = target.wrapping_offset(pair.target as isize);
    }
}

/// # Safety
/// As for [`strided`], with blocks of `N` bytes.
unsafe fn both_far<const N: usize>(mut source: *const u8, mut target: *mut u8, pair: Pair) {
    let ahead = |stride: i64| (stride as isize).wrapping_mul(AHEAD as isize);
    for _ in 0..pair.count {
        prefetch(source.wrapping_offset(ahead(pair.source)));
        prefetch(target.wrapping_offset(ahead(pair.target)));
        // SAFETY: both pointers are at a step of the loop.
        unsafe { std::ptr::copy_nonoverlapping(source, target, N) };
        source = source.wrapping_offset(pair.source as isize);
        target = target.wrapping_offset(pair.target as isize);
    }
}

/// # Safety
/// As for [`strided`].
unsafe fn general(mut source: *const u8, mut target: *mut u8, pair: Pair, block: u64) {
    for _ in 0..pair.count {
        // SAFETY: both pointers are at a step of the loop; a block that lies in memory has a length of `usize`.
        unsafe { std::ptr::copy_nonoverlapping(source, target, block as usize) };
        source = source.wrapping_offset(pair.source as isize);
        target = target.wrapping_offset(pair.target as isize);
    }
}
