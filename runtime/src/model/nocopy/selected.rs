//! Selected elements: what a layout selects of memory, read and copied without a look at the rest, which somebody else may write.
//!
//! Memory comes here with the layout that it was given out with: a whole buffer with any layout that lies within it, a part of a buffer
//! (see `parts/`) with the part's own.

#![expect(unsafe_code, reason = "reads and writes what layouts select, and makes no reference to the rest")]

use super::buffer::Element;
use chare_layout::{LayoutError, Pieces, Plan, Raw};
use chare_lrts::codec::Fill;
use chare_lrts::reach::{PIECE_BYTES, PiecewiseCopy};
use chare_lrts::{Memory, MemoryMut, TransferError};
use std::mem::MaybeUninit;

/// The selected elements in the layout's order, piece by piece; none where a piece is not whole elements, each aligned.
pub(super) fn rows<'a, T: Element>(memory: &'a Memory, layout: &'a Raw) -> impl Iterator<Item = &'a [T]> {
    let is_whole = fits::<T>(memory, layout) && layout.check_bounds(memory.len() as u64).is_ok();
    let runs = is_whole.then(|| layout.runs()).into_iter().flatten();
    runs.map(|(at, len)| {
        let first = memory.address().wrapping_offset(at as isize).cast::<T>();
        // SAFETY: the piece lies within the memory, whose handle keeps it allocated and what is selected unwritten; it is whole
        // elements, each aligned, and any bytes are values of `T: Pod`.
        unsafe { std::slice::from_raw_parts(first, len as usize / size_of::<T>()) }
    })
}

/// Whether each selected piece is whole elements, each aligned.
pub(super) fn fits<T: Element>(memory: &Memory, layout: &Raw) -> bool {
    memory.address().cast::<T>().is_aligned() && layout.grain().is_multiple_of(size_of::<T>() as u64)
}

/// Copies by a plan made of the memories' layouts.
///
/// # Errors
/// A layout that selects what lies outside its memory; nothing was copied.
pub(crate) fn copy(plan: &Plan, source: &Memory, target: &mut MemoryMut) -> Result<(), LayoutError> {
    plan.check_bounds(source.len() as u64, target.len() as u64)?;
    // SAFETY: both memories hold what their layouts select. The source's handle keeps others from writing what is selected there, the
    // target's, which is exclusive, from touching what is selected there; so the two share no byte.
    unsafe { plan.run(source.address(), target.address()) };
    Ok(())
}

/// Copies by a plan out of bytes that lie side by side.
///
/// # Errors
/// As those of [`copy`].
pub(crate) fn copy_from(plan: &Plan, source: &[u8], target: &mut MemoryMut) -> Result<(), LayoutError> {
    plan.check_bounds(source.len() as u64, target.len() as u64)?;
    // SAFETY: as in `copy`; the source is borrowed, and so is no part of the target.
    unsafe { plan.run(source.as_ptr(), target.address()) };
    Ok(())
}

/// A stretch of memory that lies elsewhere, which was fetched.
pub(crate) struct Fetched {
    /// Where it begins there.
    pub(crate) at: u64,
    pub(crate) memory: Memory,
}

/// Copies by a plan of which all that it reads was fetched in these stretches, in the order of their places.
///
/// # Errors
/// A layout that selects what lies outside the target; nothing was copied.
///
/// # Panics
/// If something was not fetched.
pub(crate) fn copy_fetched(
    plan: &Plan,
    stretches: &[Fetched],
    target: &mut MemoryMut,
) -> Result<(), LayoutError> {
    // The quicker way, where the plan says no more of its source than it reads.
    if let [Fetched { at: 0, memory }] = stretches
        && copy(plan, memory, target).is_ok()
    {
        return Ok(());
    }
    plan.check_bounds(u64::MAX, target.len() as u64)?;
    plan.for_each_copy(&mut |copies| {
        let len = copies.block as usize;
        copies.for_each_block(&mut |source, place| {
            let source = source as u64;
            let behind = stretches.partition_point(|stretch| stretch.at <= source);
            let Fetched { at, memory } = stretches[..behind].last().expect("what is read was fetched");
            let from = &memory.as_slice()[(source - at) as usize..][..len];
            // SAFETY: the bounds of what the plan writes were checked; the target's handle, which is exclusive, keeps others from touching
            // that, and the source is memory of its own.
            unsafe {
                let to = target.address().offset(place as isize);
                std::ptr::copy_nonoverlapping(from.as_ptr(), to, len);
            }
        });
    });
    Ok(())
}

/// What a plan to one piece of memory copies there, to be written into an encoding.
pub(crate) struct Gathered<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) source: &'a Memory,
}

impl Fill for Gathered<'_> {
    fn bytes(&self) -> usize {
        self.plan.bytes() as usize
    }

    /// # Panics
    /// If the plan is for memory of other lengths, or not to one piece.
    fn fill<'room>(&self, room: &'room mut [MaybeUninit<u8>]) -> &'room mut [u8] {
        let len = room.len();
        let fits = self.plan.check_bounds(self.source.len() as u64, len as u64);
        fits.unwrap_or_else(|error| panic!("a plan for other memory: {error}"));
        assert_eq!(self.bytes(), len, "a plan to one piece of memory fills it");
        let target = room.as_mut_ptr().cast();
        // SAFETY: as in `copy`, the target being borrowed exclusively. A plan writes no byte of its target twice, and as many as the room
        // has, none of them outside: so it initialises all.
        unsafe {
            self.plan.run(self.source.address(), target);
            std::slice::from_raw_parts_mut(target, len)
        }
    }
}

/// A copy by a plan made of the memories' layouts, in pieces that threads share.
pub(crate) struct CopyOfSelected {
    pieces: Pieces,
    source: Memory,
    target: MemoryMut,
}

impl CopyOfSelected {
    /// # Errors
    /// A layout that selects what lies outside its memory.
    pub(crate) fn new(plan: &Plan, source: Memory, target: MemoryMut) -> Result<Self, LayoutError> {
        plan.check_bounds(source.len() as u64, target.len() as u64)?;
        Ok(Self { pieces: plan.pieces(PIECE_BYTES as u64), source, target })
    }

    /// The memory that was written, once the copy is over. The source's handle goes.
    pub(crate) fn into_target(self) -> MemoryMut {
        self.target
    }
}

impl PiecewiseCopy for CopyOfSelected {
    fn len(&self) -> usize {
        self.pieces.len()
    }

    fn bytes(&self, piece: usize) -> usize {
        self.pieces.bytes(piece) as usize
    }

    unsafe fn copy(&self, piece: usize) -> Result<(), TransferError> {
        // SAFETY: as in `copy`: the bounds were checked, and the value has both handles to itself; of the threads that copy, each has
        // another piece, by the caller's promise.
        unsafe { self.pieces.run(piece, self.source.address(), self.target.address()) };
        Ok(())
    }
}

/// Copies by a plan into elements side by side.
///
/// # Errors
/// A layout that selects what lies outside its memory; nothing was copied.
pub(super) fn copy_to<T: Element>(plan: &Plan, source: &Memory, target: &mut [T]) -> Result<(), LayoutError> {
    let target = bytemuck::cast_slice_mut::<T, u8>(target);
    plan.check_bounds(source.len() as u64, target.len() as u64)?;
    // SAFETY: as in `copy`; the target is borrowed exclusively.
    unsafe { plan.run(source.address(), target.as_mut_ptr()) };
    Ok(())
}
