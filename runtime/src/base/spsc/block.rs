//! Blocks of the queue, and the places of its two ends among them.

#![expect(unsafe_code, reason = "blocks that two threads own in turn")]

use super::slot::{Slot, is_first};
use crate::base::sync::{AtomicPtr, Ordering};
use std::ptr::{self, NonNull};

/// Slots of a block: enough that linking and giving back blocks weigh nothing, few enough that two blocks stay in the nearest cache.
#[cfg(not(loom))]
const SLOTS: usize = 32;
#[cfg(loom)]
const SLOTS: usize = 1;

/// Halves of a block.
pub(super) const LEN: usize = 2 * SLOTS;

pub(super) struct Block<S, L> {
    slots: [Slot<S, L>; SLOTS],
    /// Written by the sender (release), once for each use; read by the receiver (acquire).
    pub(super) next: AtomicPtr<Block<S, L>>,
}

impl<S, L> Block<S, L> {
    pub(super) fn allocate() -> NonNull<Self> {
        let slots = std::array::from_fn(|_| Slot::empty());
        let block = Self { slots, next: AtomicPtr::new(ptr::null_mut()) };
        NonNull::from(Box::leak(Box::new(block)))
    }

    /// # Safety
    /// No thread reaches the block any more, and its values are taken.
    pub(super) unsafe fn free(block: NonNull<Self>) {
        // SAFETY: blocks are made by `allocate` alone, and the caller is the last owner of this one.
        drop(unsafe { Box::from_raw(block.as_ptr()) });
    }

    /// The slot of a position.
    #[inline]
    pub(super) fn slot(&self, position: usize) -> &Slot<S, L> {
        &self.slots[position % LEN / 2]
    }
}

/// A position in the stream and its block; at a block's end, still the block before the position.
pub(super) struct Cursor<S, L> {
    pub(super) block: NonNull<Block<S, L>>,
    pub(super) position: usize,
    /// The position at which the block ends.
    pub(super) end: usize,
}

/// A value that may be taken, short or long, and the block in which it stands.
pub(super) enum Found<S, L> {
    Short(NonNull<Block<S, L>>),
    Long(NonNull<Block<S, L>>),
}

/// The steps of the receiver, or of the last owner of the queue.
impl<S, L> Cursor<S, L> {
    /// The block in which the position is, if the sender has come that far.
    #[inline]
    pub(super) fn reached(&self) -> Option<NonNull<Block<S, L>>> {
        if self.position < self.end {
            return Some(self.block);
        }
        // SAFETY: blocks live until the receiver, or the last owner of the queue, has left them; the caller is that one, and has not left
        // this block.
        NonNull::new(unsafe { self.block.as_ref() }.next.load(Ordering::Acquire))
    }

    /// The block in which the position is and whether a short value stands there, if the sender has stored the turn.
    #[inline]
    pub(super) fn look(&self) -> Option<(NonNull<Block<S, L>>, bool)> {
        let block = self.reached()?;
        // SAFETY: as in `reached`: the caller has not left this block yet.
        let slot = unsafe { block.as_ref() }.slot(self.position);
        slot.look(self.position).map(|is_short| (block, is_short))
    }

    /// Finds the next value, and steps over a half that is marked as empty to get there.
    #[inline]
    pub(super) fn find(&mut self) -> Option<Found<S, L>> {
        match self.look()? {
            (block, true) => Some(Found::Short(block)),
            (block, false) if is_first(self.position) => Some(Found::Long(block)),
            (_, false) => {
                // A second half does not begin a block; a long value stands behind it.
                self.position += 1;
                self.look().map(|(block, _)| Found::Long(block))
            }
        }
    }

    /// Takes the short value at this position and moves on. `leave` gets the block that was left for that, if one was.
    ///
    /// # Safety
    /// The caller is the receiver, or the last owner of the queue. `find` gave the block as that of a short value.
    #[inline]
    pub(super) unsafe fn take_short(
        &mut self,
        block: NonNull<Block<S, L>>,
        leave: impl FnOnce(NonNull<Block<S, L>>),
    ) -> S {
        let position = self.pass(block, 1, leave);
        // SAFETY: as in `reached`. The half's turn said that the value was written, each position is passed once, and the sender does
        // not come back to the half before the block is left.
        unsafe { block.as_ref().slot(position).take_short(position) }
    }

    /// Takes the long value at this position, in the same way.
    ///
    /// # Safety
    /// As for `take_short`; of a long value.
    #[inline]
    pub(super) unsafe fn take_long(
        &mut self,
        block: NonNull<Block<S, L>>,
        leave: impl FnOnce(NonNull<Block<S, L>>),
    ) -> L {
        let position = self.pass(block, 2, leave);
        // SAFETY: as in `take_short`, for both halves.
        unsafe { block.as_ref().slot(position).take_long() }
    }

    /// Moves on by `halves`, in `block`; returns the position before the step.
    #[inline]
    fn pass(
        &mut self,
        block: NonNull<Block<S, L>>,
        halves: usize,
        leave: impl FnOnce(NonNull<Block<S, L>>),
    ) -> usize {
        let position = self.position;
        if position == self.end {
            self.end += LEN;
            leave(std::mem::replace(&mut self.block, block));
        }
        self.position += halves;
        position
    }
}
