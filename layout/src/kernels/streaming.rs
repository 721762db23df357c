#![expect(unsafe_code, reason = "copies between memory that others may touch")]
//! Rows of blocks that become one long piece of memory: whole lines are assembled in the first cache and stored past the rest.

use super::{blocks, lines};
use crate::plan::nest::Pair;
use crate::value::sums::gcd;

/// Bytes that are assembled at a time: they stay in the first cache, twice.
pub(crate) const STAGE: usize = 4096;

/// Longer blocks are lines by themselves.
const ASSEMBLED_BLOCK_MAX: u64 = 1024;

/// Memory of a copy alone, by whole lines.
#[repr(align(64))]
pub(crate) struct Stage(pub(crate) [u8; STAGE]);

/// Copies `block` bytes at each step of `pair`, whose target steps by one block.
///
/// # Safety
/// All blocks of the source may be read and all of the target written; they share no byte.
pub(crate) unsafe fn row(source: *const u8, target: *mut u8, pair: Pair, block: u64) {
    let at = |step: u64| {
        (
            source.wrapping_offset((step as isize).wrapping_mul(pair.source as isize)),
            target.wrapping_add((step * block) as usize),
        )
    };
    if block > ASSEMBLED_BLOCK_MAX {
        for step in 0..pair.count {
            let (source, target) = at(step);
            // SAFETY: both are at a step of the loop.
            unsafe { lines::stream(source, target, block as usize) };
        }
        return;
    }
    let mut stage = Stage([0; STAGE]);
    // So many blocks are whole lines.
    let round = lines::LINE as u64 / gcd(lines::LINE as u64, block);
    let most = STAGE as u64 / block;
    let most = if most >= round { most - most % round } else { most };
    let mut step = 0;
    while step < pair.count {
        let count = most.min(pair.count - step);
        let (source, target) = at(step);
        let assembled = stage.0.as_mut_ptr();
        // SAFETY: these are steps of the loop; the stage holds `most` blocks and is nobody else's.
        unsafe {
            blocks::strided(source, assembled, Pair { count, target: block as i64, ..pair }, block);
            lines::stream(assembled, target, (count * block) as usize);
        }
        step += count;
    }
}
