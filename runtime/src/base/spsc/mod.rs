//! Single-producer single-consumer queue from one PE to another of its node: a chain of blocks of slots, with the values in place.
//!
//! ```text
//! a slot, two cache lines:   turn | short value | short value | turn
//!                       or   turn |        long value         | turn
//! ```
//!
//! 1. The stream is counted in halves of slots. Each half has a turn, at its slot's outer edge, so a turn and a short value share one
//!    cache line, which crosses between the PEs once for both.
//! 2. A short value takes a half: the sender writes the value, then stores the half's turn; the receiver loads the turn, then reads the
//!    value. A long value takes a slot, by the turn of its first half. A turn says which half of the stream it is for, and whether a
//!    short value stands there (see [`slot`]).
//! 3. A long value that finds a slot with one short value goes into the next slot. Then the half between them is marked as not short,
//!    after the long value's own turn is stored. So a receiver that has a half to step over also has a value to take.
//! 4. A sender that has filled a block links the next block to it. It comes back to the filled block only for a mark of rule 3, which
//!    the receiver awaits in that block. A receiver that has emptied a block moves on by its link. So a sender always has room, and no
//!    word of a block is written by both ends.
//! 5. A block that the receiver has left becomes the spare block, which the sender takes before it allocates: two ends that keep pace
//!    use the same few blocks for ever. Positions only grow, so an old turn in a used block is never taken for a new one.
//! 6. There is one sender and one receiver, because their handles cannot be cloned. The last of the two frees all blocks and drops
//!    the values that were not taken.
//!
//! `tests/model` checks this protocol.

#![expect(unsafe_code, reason = "blocks that two threads own in turn")]

mod block;
mod slot;

use crate::base::sync::{Arc, AtomicPtr, Ordering, UnsafeCell};
use block::{Block, Cursor, Found, LEN};
use slot::Slot;
use std::ptr::{self, NonNull};

/// The state that the two ends share.
struct Chain<S, L> {
    /// A block for the sender to use again: given by the receiver, taken by the sender.
    spare: AtomicPtr<Block<S, L>>,
    /// The receiver's place when it ended; written once, by the receiver, and read by the last owner, which frees the queue.
    rest: UnsafeCell<Option<Cursor<S, L>>>,
}

// SAFETY: values move from the sender's thread to the receiver's, or to the one that frees the queue; none is shared. `rest` is
// written by the receiver before it gives up its handle, and read after both handles were given up.
unsafe impl<S: Send, L: Send> Send for Chain<S, L> {}
// SAFETY: as above.
unsafe impl<S: Send, L: Send> Sync for Chain<S, L> {}

impl<S, L> Drop for Chain<S, L> {
    fn drop(&mut self) {
        // SAFETY: both ends are gone, so no other thread reaches the cell; the receiver has left its place there.
        let rest = self.rest.with_mut(|rest| unsafe { (*rest).take() });
        let Some(mut rest) = rest else { return };
        // SAFETY: this is the last owner; no thread reaches a block that was left.
        let free = |left| unsafe { Block::free(left) };
        while let Some(found) = rest.find() {
            match found {
                // SAFETY: this is the last owner, and takes the value that it found.
                Found::Short(block) => drop(unsafe { rest.take_short(block, free) }),
                // SAFETY: as above.
                Found::Long(block) => drop(unsafe { rest.take_long(block, free) }),
            }
        }
        let spare = NonNull::new(self.spare.load(Ordering::Acquire));
        // The sender may have linked a block and filled none of it.
        let linked = rest.reached().filter(|linked| *linked != rest.block);
        for block in [Some(rest.block), linked, spare].into_iter().flatten() {
            // SAFETY: three blocks that are reached from nowhere else: the last one of the queue, the one linked to it, and the spare.
            unsafe { Block::free(block) };
        }
    }
}

/// The end of a queue that sends.
pub(crate) struct Sender<S, L> {
    chain: Arc<Chain<S, L>>,
    /// The next position to write.
    place: Cursor<S, L>,
}

/// The end of a queue that receives.
pub(crate) struct Receiver<S, L> {
    chain: Arc<Chain<S, L>>,
    /// The next position to read.
    place: Cursor<S, L>,
}

// SAFETY: an end is one thread's at a time; its place points into blocks that the protocol gives to this end.
unsafe impl<S: Send, L: Send> Send for Sender<S, L> {}
// SAFETY: as above.
unsafe impl<S: Send, L: Send> Send for Receiver<S, L> {}

/// A new queue's two ends.
pub(crate) fn chain<S: Send, L: Send>() -> (Sender<S, L>, Receiver<S, L>) {
    let chain = Arc::new(Chain { spare: AtomicPtr::new(ptr::null_mut()), rest: UnsafeCell::new(None) });
    let block = Block::allocate();
    let place = || Cursor { block, position: 0, end: LEN };
    (Sender { chain: Arc::clone(&chain), place: place() }, Receiver { chain, place: place() })
}

impl<S, L> Sender<S, L> {
    /// Sends a short value.
    #[inline]
    pub(crate) fn send_short(&mut self, value: S) {
        let position = self.place.position;
        // SAFETY: the value that stood here was taken before the block became the spare one, and the receiver does not look at the half
        // before its turn is stored.
        unsafe { self.slot(position).write_short(position, value) };
        self.place.position = position + 1;
    }

    /// Sends a long value.
    #[inline]
    pub(crate) fn send_long(&mut self, value: L) {
        let Cursor { block, position: behind, .. } = self.place;
        let position = behind.next_multiple_of(2);
        // SAFETY: as in `send_short`, for both halves.
        unsafe { self.slot(position).write_long(position, value) };
        self.place.position = position + 2;
        if position != behind {
            // SAFETY: the receiver waits for this mark before it passes the half, and so before it leaves the block.
            unsafe { block.as_ref() }.slot(behind).mark_empty(behind);
        }
    }

    /// The slot of the next position, in another block if this one ends there.
    #[inline]
    fn slot(&mut self, position: usize) -> &Slot<S, L> {
        if position == self.place.end {
            self.append();
        }
        // SAFETY: the receiver does not leave a block before the sender has linked the next one.
        unsafe { self.place.block.as_ref() }.slot(position)
    }

    /// Moves on to another block.
    #[cold]
    fn append(&mut self) {
        let block = match NonNull::new(self.chain.spare.swap(ptr::null_mut(), Ordering::Acquire)) {
            Some(used) => {
                // SAFETY: the thread that takes the spare block is the only one that has it.
                unsafe { used.as_ref() }.next.store(ptr::null_mut(), Ordering::Relaxed);
                used
            }
            None => Block::allocate(),
        };
        let filled = std::mem::replace(&mut self.place.block, block);
        self.place.end += LEN;
        // SAFETY: the receiver leaves the filled block only after this store, and after the mark of rule 3 if one is to come.
        unsafe { filled.as_ref() }.next.store(block.as_ptr(), Ordering::Release);
    }
}

impl<S, L> Receiver<S, L> {
    /// Whether there is nothing to receive now.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.place.look().is_none()
    }

    /// The next value: a short one itself, a long one where it stands.
    #[inline]
    pub(crate) fn receive(&mut self) -> Option<Received<'_, S, L>> {
        match self.place.find()? {
            Found::Short(block) => {
                let Self { chain, place } = self;
                // SAFETY: this is the receiver, and takes the value that it found.
                Some(Received::Short(unsafe { place.take_short(block, |left| chain.give_back(left)) }))
            }
            Found::Long(block) => Some(Received::Long(Long { receiver: self, block })),
        }
    }
}

/// The next value of a queue.
pub(crate) enum Received<'a, S, L> {
    Short(S),
    Long(Long<'a, S, L>),
}

/// A long value where it stands, to be looked at, and then taken or left.
pub(crate) struct Long<'a, S, L> {
    receiver: &'a mut Receiver<S, L>,
    /// The block in which the value stands.
    block: NonNull<Block<S, L>>,
}

impl<S, L> Long<'_, S, L> {
    /// Looks at the value.
    #[inline]
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&L) -> R) -> R {
        // SAFETY: the receiver, which is borrowed, has not left the block.
        let slot = unsafe { self.block.as_ref() }.slot(self.receiver.place.position);
        // SAFETY: `find` has seen the value's turn, and it stays until this borrow of the receiver takes it.
        unsafe { slot.peek_long(look) }
    }

    /// Takes the value.
    #[inline]
    pub(crate) fn take(self) -> L {
        let Receiver { chain, place } = self.receiver;
        // SAFETY: this is the receiver, borrowed since `find` gave the block.
        unsafe { place.take_long(self.block, |left| chain.give_back(left)) }
    }
}

impl<S, L> Chain<S, L> {
    /// Leaves a block to the sender as the spare one; frees a spare block that the sender did not take.
    #[cold]
    fn give_back(&self, block: NonNull<Block<S, L>>) {
        if let Some(unwanted) = NonNull::new(self.spare.swap(block.as_ptr(), Ordering::AcqRel)) {
            // SAFETY: the thread that takes the spare block is the only one that has it; its values were taken before it was left.
            unsafe { Block::free(unwanted) };
        }
    }
}

impl<S, L> Drop for Receiver<S, L> {
    fn drop(&mut self) {
        let Cursor { block, position, end } = self.place;
        // SAFETY: the receiver alone writes the cell, and the last owner reads it after both handles are gone.
        self.chain.rest.with_mut(|rest| unsafe { *rest = Some(Cursor { block, position, end }) });
    }
}
