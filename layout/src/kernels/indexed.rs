#![expect(unsafe_code, reason = "copies between memory that others may touch")]
//! Lists of pieces on one side, one piece of memory on the other; places ahead are prefetched.

use super::{AHEAD, by_block, prefetch};
use crate::plan::Listed;
use crate::value::op::{Body, List, Piece, lengths_from};

/// Copies all pieces of a list in their order.
///
/// # Safety
/// From the base of its side, all pieces of the list may be touched, and from the other's as many bytes in a row; the source
/// may be read, the target written, and they share no byte.
pub(crate) unsafe fn listed(source: *const u8, target: *mut u8, list: List<'_>, side: Listed) {
    // SAFETY: the caller's promise is that of each of them.
    unsafe {
        match (list, side) {
            (List::Indexed { block, scale, indices }, Listed::Source) => {
                by_block!(
                    block,
                    gather(source, target, scale, indices),
                    gather_any(source, target, block, scale, indices)
                );
            }
            (List::Indexed { block, scale, indices }, Listed::Target) => {
                by_block!(
                    block,
                    scatter(source, target, scale, indices),
                    scatter_any(source, target, block, scale, indices)
                );
            }
            (List::Runs { pieces, start }, _) => runs(source, target, pieces, start, side),
        }
    }
}

/// Copies each block of one list to that of another.
///
/// # Safety
/// From their bases, all blocks of the first list may be read and those of the second written, and they share no byte.
pub(crate) unsafe fn paired((source, from): (*const u8, &Body), (target, to): (*mut u8, &Body)) {
    let (Body::Indexed { block, scale: from_scale, indices: from }, Body::Indexed { scale, indices: to, .. }) =
        (from, to)
    else {
        unreachable!("plans pair lists of blocks")
    };
    debug_assert_eq!(from.len(), to.len(), "they have as many bytes");
    let sides = ((source, *from_scale, &**from), (target, *scale, &**to));
    // SAFETY: the caller's promise is that of each of them.
    unsafe { by_block!(*block, pairs(sides), pairs_any(sides, *block)) };
}

/// Bases, scales and indices of both sides.
type Sides<'a> = ((*const u8, u64, &'a [u32]), (*mut u8, u64, &'a [u32]));

/// # Safety
/// As for [`paired`], with blocks of `N` bytes.
unsafe fn pairs<const N: usize>(sides: Sides<'_>) {
    let ((source, from_scale, from), (target, to_scale, to)) = sides;
    for (step, (one, other)) in from.iter().zip(to).enumerate() {
        prefetch(source.wrapping_offset(later(from, step, from_scale)));
        prefetch(target.wrapping_offset(later(to, step, to_scale)));
        let from = source.wrapping_offset(offset(*one, from_scale));
        // SAFETY: the bases plus the places are blocks of the lists.
        unsafe { std::ptr::copy_nonoverlapping(from, target.wrapping_offset(offset(*other, to_scale)), N) };
    }
}

/// # Safety
/// As for [`paired`], with blocks of `block` bytes.
unsafe fn pairs_any(sides: Sides<'_>, block: u64) {
    let ((source, from_scale, from), (target, to_scale, to)) = sides;
    for (step, (one, other)) in from.iter().zip(to).enumerate() {
        prefetch(source.wrapping_offset(later(from, step, from_scale)));
        prefetch(target.wrapping_offset(later(to, step, to_scale)));
        let from = source.wrapping_offset(offset(*one, from_scale));
        let to = target.wrapping_offset(offset(*other, to_scale));
        // SAFETY: as in `pairs`.
        unsafe { std::ptr::copy_nonoverlapping(from, to, block as usize) };
    }
}

fn offset(index: u32, scale: u64) -> isize {
    (u64::from(index) * scale) as isize
}

/// The place to ask for while the piece at `step` is copied: that of a later one, or of the last.
fn later(indices: &[u32], step: usize, scale: u64) -> isize {
    offset(indices[(step + AHEAD).min(indices.len() - 1)], scale)
}

/// Copies the block of each index, and asks for the places of later ones before.
#[inline(always)]
fn each(base: *const u8, scale: u64, indices: &[u32], mut copy: impl FnMut(isize)) {
    let ahead = indices.get(AHEAD..).unwrap_or_default();
    for (index, later) in indices.iter().zip(ahead) {
        prefetch(base.wrapping_offset(offset(*later, scale)));
        copy(offset(*index, scale));
    }
    for index in &indices[ahead.len()..] {
        copy(offset(*index, scale));
    }
}

/// # Safety
/// As for [`listed`], with blocks of `N` bytes in the source.
unsafe fn gather<const N: usize>(source: *const u8, mut target: *mut u8, scale: u64, indices: &[u32]) {
    each(source, scale, indices, |at| {
        // SAFETY: `source` plus the place is a piece of the list, and `target` is behind those before.
        unsafe { std::ptr::copy_nonoverlapping(source.wrapping_offset(at), target, N) };
        target = target.wrapping_add(N);
    });
}

/// # Safety
/// As for [`listed`], with blocks of `block` bytes in the source.
unsafe fn gather_any(source: *const u8, mut target: *mut u8, block: u64, scale: u64, indices: &[u32]) {
    each(source, scale, indices, |at| {
        // SAFETY: as in `gather`.
        unsafe { std::ptr::copy_nonoverlapping(source.wrapping_offset(at), target, block as usize) };
        target = target.wrapping_add(block as usize);
    });
}

/// # Safety
/// As for [`listed`], with blocks of `N` bytes in the target.
unsafe fn scatter<const N: usize>(mut source: *const u8, target: *mut u8, scale: u64, indices: &[u32]) {
    each(target, scale, indices, |at| {
        // SAFETY: `target` plus the place is a piece of the list, and `source` is behind those before.
        unsafe { std::ptr::copy_nonoverlapping(source, target.wrapping_offset(at), N) };
        source = source.wrapping_add(N);
    });
}

/// # Safety
/// As for [`listed`], with blocks of `block` bytes in the target.
unsafe fn scatter_any(mut source: *const u8, target: *mut u8, block: u64, scale: u64, indices: &[u32]) {
    each(target, scale, indices, |at| {
        // SAFETY: as in `scatter`.
        unsafe { std::ptr::copy_nonoverlapping(source, target.wrapping_offset(at), block as usize) };
        source = source.wrapping_add(block as usize);
    });
}

/// # Safety
/// As for [`listed`].
unsafe fn runs(mut source: *const u8, mut target: *mut u8, pieces: &[Piece], start: u64, side: Listed) {
    for (step, (at, len)) in lengths_from(pieces, start).enumerate() {
        let later = pieces[(step + AHEAD).min(pieces.len() - 1)].at as isize;
        let len = len as usize;
        match side {
            Listed::Source => {
                prefetch(source.wrapping_offset(later));
                // SAFETY: `source` plus the place is a piece of the list, and `target` is behind those before.
                unsafe { piece(source.wrapping_offset(at as isize), target, len) };
                target = target.wrapping_add(len);
            }
            Listed::Target => {
                prefetch(target.wrapping_offset(later));
                // SAFETY: the same with the sides exchanged.
                unsafe { piece(source, target.wrapping_offset(at as isize), len) };
                source = source.wrapping_add(len);
            }
        }
    }
}

/// Copies a piece. Short ones are their first and their last bytes, which may be the same ones: lengths that vary then take no
/// jump that the processor guesses wrong.
///
/// # Safety
/// The source may be read, the target written; they share no byte.
#[inline(always)]
unsafe fn piece(source: *const u8, target: *mut u8, len: usize) {
    // SAFETY: the caller's promise, for pieces of no less than so many bytes.
    unsafe {
        match len {
            4..=7 => both_ends::<4>(source, target, len),
            8..=16 => both_ends::<8>(source, target, len),
            17..=32 => both_ends::<16>(source, target, len),
            _ => std::ptr::copy_nonoverlapping(source, target, len),
        }
    }
}

/// # Safety
/// As for [`piece`], with a length of `N` to twice that.
#[inline(always)]
unsafe fn both_ends<const N: usize>(source: *const u8, target: *mut u8, len: usize) {
    // SAFETY: the last `N` bytes start within the piece.
    unsafe {
        std::ptr::copy_nonoverlapping(source, target, N);
        std::ptr::copy_nonoverlapping(source.add(len - N), target.add(len - N), N);
    }
}
