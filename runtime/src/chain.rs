//! The way from one PE to one other of its node: a chain of blocks of slots, one sender, one receiver, values in place.
//!
//! 1. Position `p` of the stream stands in slot `p mod LEN` of a block. Its slot is full once the slot's turn is `p + 1`: the
//!    sender writes the value, then stores the turn; the receiver loads the turn, then reads the value. So every slot's lines
//!    cross once for each value, turn and value together.
//! 2. The sender that has filled a block links the next one to it and never touches the filled one again. The receiver
//!    that has emptied a block goes on by its link. So a sender always has room, and no word is written by both.
//! 3. A block that the receiver has left is the spare one, which the sender takes before it allocates: two who keep pace use the
//!    same few blocks for ever. Turns only grow, so what stands in a used block is never taken for new.
//! 4. There is one sender and one receiver, because their handles cannot be cloned. The last of the two frees all blocks and drops
//!    what was not taken.
//!
//! `tests/model` checks it.

#![expect(unsafe_code, reason = "blocks and slots that two threads own in turn")]

use crate::sync::{Arc, AtomicPtr, AtomicUsize, Ordering, UnsafeCell};
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

/// Slots of a block: so many that linking and giving back weigh nothing, in memory that two blocks of stay in the nearest cache.
#[cfg(not(loom))]
const LEN: usize = 32;
#[cfg(loom)]
const LEN: usize = 2;

/// Two lines, which processors fetch as a pair; so turn and value of a message cross together, and neighbours do not collide.
#[repr(align(128))]
struct Slot<T> {
    /// Written by the sender (release), read by the receiver (acquire).
    turn: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

struct Block<T> {
    slots: [Slot<T>; LEN],
    /// Written by the sender (release), once for each use; read by the receiver (acquire).
    next: AtomicPtr<Block<T>>,
}

impl<T> Block<T> {
    fn allocate() -> NonNull<Self> {
        let slot = |_| Slot { turn: AtomicUsize::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) };
        let block = Self { slots: std::array::from_fn(slot), next: AtomicPtr::new(ptr::null_mut()) };
        NonNull::from(Box::leak(Box::new(block)))
    }

    /// # Safety
    /// Nobody reaches the block any more; its values are taken.
    unsafe fn free(block: NonNull<Self>) {
        // SAFETY: blocks are made by `allocate` alone, and the caller is the last who has this one.
        drop(unsafe { Box::from_raw(block.as_ptr()) });
    }

    #[inline]
    fn slot(&self, position: usize) -> &Slot<T> {
        &self.slots[position % LEN]
    }

    #[inline]
    fn is_full_at(&self, position: usize) -> bool {
        self.slot(position).turn.load(Ordering::Acquire) == position + 1
    }
}

/// What the two ends share.
struct Chain<T> {
    /// A block for the sender to use again: given by the receiver, taken by the sender.
    spare: AtomicPtr<Block<T>>,
    /// Where the receiver was when it ended; written by it once, read by whoever frees the chain.
    rest: UnsafeCell<Option<Place<T>>>,
}

// SAFETY: values move from the sender's thread to the receiver's, or to the one that frees the chain; none is shared. `rest` is
// written by the receiver before it gives up its handle, and read after both were given up.
unsafe impl<T: Send> Send for Chain<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Chain<T> {}

/// A position in the stream and its block; at a block's end, still in the one before it.
struct Place<T> {
    block: NonNull<Block<T>>,
    position: usize,
    /// Where the block ends.
    end: usize,
}

impl<T> Place<T> {
    /// The block in which the position is, if the sender has come as far. For the receiver, or the last owner of the chain.
    #[inline]
    fn reached(&self) -> Option<NonNull<Block<T>>> {
        if self.position < self.end {
            return Some(self.block);
        }
        // SAFETY: blocks live until the receiver, or the last owner of the chain, has left them; this is it.
        NonNull::new(unsafe { self.block.as_ref() }.next.load(Ordering::Acquire))
    }

    /// The block in which the position is, if the value is there. For the receiver, or the last owner of the chain.
    #[inline]
    fn filled(&self) -> Option<NonNull<Block<T>>> {
        // SAFETY: as in `reached`: this block was not left yet.
        self.reached().filter(|block| unsafe { block.as_ref() }.is_full_at(self.position))
    }

    /// Takes the value at this position, and goes on. `leave` gets the block that was left for that, if any was.
    ///
    /// # Safety
    /// The caller is the receiver, or the last owner of the chain: nobody else takes. `block` is what `filled` gave for this position.
    #[inline]
    unsafe fn take(&mut self, block: NonNull<Block<T>>, leave: impl FnOnce(NonNull<Block<T>>)) -> T {
        if self.position == self.end {
            self.end += LEN;
            leave(std::mem::replace(&mut self.block, block));
        }
        // SAFETY: as in `reached`.
        let slot = unsafe { block.as_ref() }.slot(self.position);
        self.position += 1;
        // SAFETY: the slot's turn said that the value was written, and each position is passed once; the sender does not come back
        // to the slot before the block is left.
        slot.value.with(|value| unsafe { (*value).assume_init_read() })
    }
}

impl<T> Drop for Chain<T> {
    fn drop(&mut self) {
        // SAFETY: both ends are gone, so nobody else reaches the cell; the receiver has left its place there.
        let rest = self.rest.with_mut(|rest| unsafe { (*rest).take() });
        let Some(mut rest) = rest else { return };
        while let Some(block) = rest.filled() {
            // SAFETY: this is the last owner; a block that was left is reached by nobody.
            drop(unsafe { rest.take(block, |left| Block::free(left)) });
        }
        let spare = NonNull::new(self.spare.load(Ordering::Acquire));
        // The sender may have linked a block and filled none of it.
        let linked = rest.reached().filter(|linked| *linked != rest.block);
        for block in [Some(rest.block), linked, spare].into_iter().flatten() {
            // SAFETY: three blocks that are reached from nowhere else: the last one of the chain, what may hang on it, and the spare.
            unsafe { Block::free(block) };
        }
    }
}

/// The end that sends.
pub(crate) struct Sender<T> {
    chain: Arc<Chain<T>>,
    /// The next position to write.
    place: Place<T>,
}

/// The end that receives.
pub(crate) struct Receiver<T> {
    chain: Arc<Chain<T>>,
    /// The next position to read.
    place: Place<T>,
}

// SAFETY: an end is one thread's at a time; its place points into blocks that the protocol gives to this end.
unsafe impl<T: Send> Send for Sender<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Send for Receiver<T> {}

/// A chain's two ends.
pub(crate) fn chain<T: Send>() -> (Sender<T>, Receiver<T>) {
    let chain = Arc::new(Chain { spare: AtomicPtr::new(ptr::null_mut()), rest: UnsafeCell::new(None) });
    let block = Block::allocate();
    let place = || Place { block, position: 0, end: LEN };
    (Sender { chain: Arc::clone(&chain), place: place() }, Receiver { chain, place: place() })
}

impl<T> Sender<T> {
    /// Sends a value.
    #[inline]
    pub(crate) fn send(&mut self, value: T) {
        if self.place.position == self.place.end {
            self.append();
        }
        let Place { block, position, .. } = &mut self.place;
        // SAFETY: the receiver does not leave a block before the sender has linked the next one.
        let slot = unsafe { block.as_ref() }.slot(*position);
        slot.value.with_mut(|place| {
            // SAFETY: what stood here was taken before the block became the spare one, and the receiver does not look before the
            // turn is stored.
            unsafe { (*place).write(value) };
        });
        *position += 1;
        slot.turn.store(*position, Ordering::Release);
    }

    /// Goes on in another block.
    #[cold]
    fn append(&mut self) {
        let block = match NonNull::new(self.chain.spare.swap(ptr::null_mut(), Ordering::Acquire)) {
            Some(used) => {
                // SAFETY: whoever takes the spare block is the only one who has it.
                unsafe { used.as_ref() }.next.store(ptr::null_mut(), Ordering::Relaxed);
                used
            }
            None => Block::allocate(),
        };
        let filled = std::mem::replace(&mut self.place.block, block);
        self.place.end += LEN;
        // SAFETY: the receiver leaves the filled block only after this store, the last access of the sender.
        unsafe { filled.as_ref() }.next.store(block.as_ptr(), Ordering::Release);
    }
}

impl<T> Receiver<T> {
    /// Whether there is nothing to pop now.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.place.filled().is_none()
    }

    /// The next value, where it stands.
    #[inline]
    pub(crate) fn front(&mut self) -> Option<Front<'_, T>> {
        let block = self.place.filled()?;
        Some(Front { receiver: self, block })
    }
}

/// The next value of a chain: to be looked at, and taken or left.
pub(crate) struct Front<'a, T> {
    receiver: &'a mut Receiver<T>,
    /// In which it stands.
    block: NonNull<Block<T>>,
}

impl<T> Front<'_, T> {
    /// Looks at the value.
    #[inline]
    pub(crate) fn peek<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        // SAFETY: the receiver, which is borrowed, has not left the block.
        let slot = unsafe { self.block.as_ref() }.slot(self.receiver.place.position);
        // SAFETY: `filled` has seen the value's turn, and it stays until this borrow of the receiver takes it.
        slot.value.with(|value| look(unsafe { (*value).assume_init_ref() }))
    }

    /// Takes it.
    #[inline]
    pub(crate) fn take(self) -> T {
        let Receiver { chain, place } = self.receiver;
        // SAFETY: this is the receiver, borrowed since `filled` gave the block.
        unsafe { place.take(self.block, |left| chain.give_back(left)) }
    }
}

impl<T> Chain<T> {
    /// Leaves a block to the sender; frees the one that it did not take.
    #[cold]
    fn give_back(&self, block: NonNull<Block<T>>) {
        if let Some(unwanted) = NonNull::new(self.spare.swap(block.as_ptr(), Ordering::AcqRel)) {
            // SAFETY: whoever takes the spare block is the only one who has it; its values were taken before it was left.
            unsafe { Block::free(unwanted) };
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let Place { block, position, end } = self.place;
        // SAFETY: the receiver alone writes the cell, and whoever reads it does so after the handles are gone.
        self.chain.rest.with_mut(|rest| unsafe { *rest = Some(Place { block, position, end }) });
    }
}
