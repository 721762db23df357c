//! Walks carried out: chunks of a stream gathered and scattered, and two streams copied to each other that are cut differently.

#![expect(unsafe_code, reason = "copies between memory that others may touch")]

use super::streaming::{STAGE, Stage};
use super::{blocks, indexed};
use crate::plan::nest::Pair;
use crate::plan::step::Listed;
use crate::value::op::Op;
use crate::value::walk::{Strip, Walk};

/// Shorter blocks go through a stage: walking both sides at once takes more than copying twice.
const DIRECT_BLOCK_MIN: u64 = 512;

/// Copies the next `len` bytes of a walk from `buffer` to `chunk`; fewer where the stream ends.
///
/// # Safety
/// From `buffer` on, all that is walked may be read, and `len` bytes from `chunk` on written; they share no byte.
pub(crate) unsafe fn gather(walk: &mut Walk<'_>, buffer: *const u8, chunk: *mut u8, len: u64) {
    let mut done = 0;
    while done < len {
        if let Some((at, bytes, list)) = walk.take_list(len - done) {
            let (source, target) = (buffer.wrapping_offset(at as isize), chunk.wrapping_add(done as usize));
            // SAFETY: these pieces are walked, and the chunk has room for `len` bytes.
            unsafe { indexed::listed(source, target, list, Listed::Source) };
            done += bytes;
        } else {
            let Some(strip) = walk.take(len - done) else { return };
            // SAFETY: the strip is walked, and the chunk has room for `len` bytes.
            unsafe { strips((strip, buffer), (row(done, strip.bytes()), chunk)) };
            done += strip.bytes();
        }
    }
}

/// Copies the `len` bytes of `chunk` to where a walk goes next in `buffer`; fewer where the stream ends.
///
/// # Safety
/// `len` bytes from `chunk` on may be read, and from `buffer` on all that is walked written; they share no byte.
pub(crate) unsafe fn scatter(walk: &mut Walk<'_>, chunk: *const u8, len: u64, buffer: *mut u8) {
    let mut done = 0;
    while done < len {
        if let Some((at, bytes, list)) = walk.take_list(len - done) {
            let (source, target) = (chunk.wrapping_add(done as usize), buffer.wrapping_offset(at as isize));
            // SAFETY: these pieces are walked, and the chunk holds `len` bytes.
            unsafe { indexed::listed(source, target, list, Listed::Target) };
            done += bytes;
        } else {
            let Some(strip) = walk.take(len - done) else { return };
            // SAFETY: the strip is walked, and the chunk holds `len` bytes.
            unsafe { strips((row(done, strip.bytes()), chunk), (strip, buffer)) };
            done += strip.bytes();
        }
    }
}

/// Copies `bytes` bytes of one stream to the other, both from `at` on.
///
/// # Safety
/// From each base, all that the operations select may be read, or written; they share no byte.
pub(crate) unsafe fn zip(from: (&[Op], *const u8), to: (&[Op], *mut u8), at: u64, bytes: u64) {
    let (mut source, mut target) = (Walk::new(from.0, at), Walk::new(to.0, at));
    let mut stage = Stage([0; STAGE]);
    let mut left = bytes;
    while left > 0 {
        let (Some(one), Some(other)) = (source.head(), target.head()) else { return };
        let block = one.block.min(other.block);
        if block < DIRECT_BLOCK_MIN {
            let len = left.min(STAGE as u64);
            let staged = stage.0.as_mut_ptr();
            // SAFETY: both walk what the operations select; the stage has room for `len` bytes and is nobody else's.
            unsafe {
                gather(&mut source, from.1, staged, len);
                scatter(&mut target, staged, len, to.1);
            }
            left -= len;
            continue;
        }
        // Whole blocks of the finer side, as many as go into one block of the coarser one.
        let count = if one.block == other.block {
            one.count.min(other.count)
        } else if one.block < other.block {
            one.count.min(other.block / block)
        } else {
            other.count.min(one.block / block)
        };
        let len = if left < block { left } else { block * count.min(left / block) };
        let (Some(one), Some(other)) = (source.take(len), target.take(len)) else { return };
        left -= len;
        // SAFETY: both strips are of what the operations select.
        unsafe { strips((one, from.1), (other, to.1)) };
    }
}

/// `len` bytes in a row, `done` bytes on.
fn row(done: u64, len: u64) -> Strip {
    Strip { at: done as i64, block: len, stride: 0, count: 1 }
}

/// Copies a strip to one with as many bytes, of which one has the blocks of the other or is one block.
///
/// # Safety
/// From each base, the strip may be read, or written; they share no byte.
unsafe fn strips(from: (Strip, *const u8), to: (Strip, *mut u8)) {
    let block = from.0.block.min(to.0.block);
    let stride = |strip: Strip| if strip.count > 1 { strip.stride } else { block as i64 };
    let pair = Pair { count: from.0.count.max(to.0.count), source: stride(from.0), target: stride(to.0) };
    let source = from.1.wrapping_offset(from.0.at as isize);
    let target = to.1.wrapping_offset(to.0.at as isize);
    // SAFETY: a strip of one block is blocks of the other's size in a row.
    unsafe { blocks::strided(source, target, pair, block) };
}
