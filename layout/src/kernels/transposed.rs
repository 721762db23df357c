//! Transpositions: two loops of which one is near in the source and the other in the target, copied by tiles that fit the first
//! cache, so that each line is read and written once.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::by_block;
use crate::plan::nest::Pair;

/// Bytes of a line of the cache.
const LINE: u64 = 64;

/// Steps of each loop in a tile: 16 lines on either side, or a whole line of blocks if that is more.
fn tile(block: u64) -> u64 {
    (LINE / block).max(16)
}

/// Copies `block` bytes at each step of both loops; `columns` is the one near in the target.
///
/// # Safety
/// All blocks of the source may be read and all of the target written; they share no byte.
pub(crate) unsafe fn tiled(source: *const u8, target: *mut u8, rows: Pair, columns: Pair, block: u64) {
    let tile = tile(block);
    for row in (0..rows.count).step_by(tile as usize) {
        let rows_here = Pair { count: tile.min(rows.count - row), ..rows };
        for column in (0..columns.count).step_by(tile as usize) {
            let columns_here = Pair { count: tile.min(columns.count - column), ..columns };
            let source = source.wrapping_offset(offset(row, rows.source, column, columns.source));
            let target = target.wrapping_offset(offset(row, rows.target, column, columns.target));
            // SAFETY: a tile is steps of both loops, of which the caller promises all.
            unsafe {
                by_block!(
                    block,
                    one(source, target, rows_here, columns_here),
                    general(source, target, rows_here, columns_here, block)
                );
            }
        }
    }
}

fn offset(row: u64, row_stride: i64, column: u64, column_stride: i64) -> isize {
    (row as isize)
        .wrapping_mul(row_stride as isize)
        .wrapping_add((column as isize).wrapping_mul(column_stride as isize))
}

/// # Safety
/// As for [`tiled`], with blocks of `N` bytes.
unsafe fn one<const N: usize>(mut source: *const u8, mut target: *mut u8, rows: Pair, columns: Pair) {
    for _ in 0..rows.count {
        let (mut from, mut to) = (source, target);
        for _ in 0..columns.count {
            // SAFETY: both pointers are at a step of both loops.
            unsafe { std::ptr::copy_nonoverlapping(from, to, N) };
            from = from.wrapping_offset(columns.source as isize);
            to = to.wrapping_offset(columns.target as isize);
        }
        source = source.wrapping_offset(rows.source as isize);
        target = target.wrapping_offset(rows.target as isize);
    }
}

/// # Safety
/// As for [`tiled`].
unsafe fn general(mut source: *const u8, mut target: *mut u8, rows: Pair, columns: Pair, block: u64) {
    for _ in 0..rows.count {
        // SAFETY: a row is steps of both loops.
        unsafe { super::blocks::strided(source, target, columns, block) };
        source = source.wrapping_offset(rows.source as isize);
        target = target.wrapping_offset(rows.target as isize);
    }
}
