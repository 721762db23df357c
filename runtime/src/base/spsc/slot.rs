//! Slots of the queue: two cache lines with room for two short values or a long one, and a turn at either edge.

#![expect(unsafe_code, reason = "memory that two threads own in turn")]

use crate::base::sync::{AtomicUsize, Ordering, UnsafeCell};
use std::mem::{ManuallyDrop, MaybeUninit};

/// The turn of the half at a position when a short value stands there.
#[inline]
fn short(position: usize) -> usize {
    2 * position + 2
}

/// The turn of the half at a position when no short value stands there: of a slot's first half when a long value stands in the slot,
/// of its second half when nothing stands there.
#[inline]
fn not_short(position: usize) -> usize {
    2 * position + 3
}

#[inline]
pub(super) fn is_first(position: usize) -> bool {
    position.is_multiple_of(2)
}

#[repr(C)]
union Room<S, L> {
    halves: ManuallyDrop<[MaybeUninit<S>; 2]>,
    whole: ManuallyDrop<MaybeUninit<L>>,
}

/// A slot, as the file's head describes it. Processors fetch its two lines as a pair, so neighbouring slots do not collide.
#[repr(C, align(128))]
pub(super) struct Slot<S, L> {
    /// The turn of the first half: written by the sender (release), read by the receiver (acquire).
    first: AtomicUsize,
    room: std::cell::UnsafeCell<Room<S, L>>,
    /// The turn of the second half: the same.
    second: AtomicUsize,
    /// Empty cells, held with the halves of the room, so that the model sees which thread holds each half.
    held: [UnsafeCell<()>; 2],
}

/// Every position here is the position of a half of the slot; a long value has the position of its first half.
impl<S, L> Slot<S, L> {
    pub(super) fn empty() -> Self {
        let room = Room { whole: ManuallyDrop::new(MaybeUninit::uninit()) };
        Self {
            first: AtomicUsize::new(0),
            room: std::cell::UnsafeCell::new(room),
            second: AtomicUsize::new(0),
            held: [UnsafeCell::new(()), UnsafeCell::new(())],
        }
    }

    /// Whether a short value stands in a half, if the sender has stored the half's turn.
    #[inline]
    pub(super) fn look(&self, position: usize) -> Option<bool> {
        let turn = self.turn(position).load(Ordering::Acquire);
        let is_short = turn == short(position);
        (is_short || turn == not_short(position)).then_some(is_short)
    }

    /// # Safety
    /// The half is the caller's to write, and holds nothing.
    #[inline]
    pub(super) unsafe fn write_short(&self, position: usize, value: S) {
        // SAFETY: the pointer is valid for a short value, and the caller's.
        self.held[position % 2].with_mut(|_| unsafe { self.half(position).write(value) });
        self.turn(position).store(short(position), Ordering::Release);
    }

    /// # Safety
    /// Both halves are the caller's to write, and hold nothing.
    #[inline]
    pub(super) unsafe fn write_long(&self, position: usize, value: L) {
        let [first, second] = &self.held;
        // SAFETY: the pointer is valid for a long value, and the caller's.
        first.with_mut(|_| second.with_mut(|_| unsafe { self.whole().write(value) }));
        self.first.store(not_short(position), Ordering::Release);
    }

    /// Marks the second half as empty.
    #[inline]
    pub(super) fn mark_empty(&self, position: usize) {
        self.second.store(not_short(position), Ordering::Release);
    }

    /// # Safety
    /// The half holds a short value, which the caller alone may take, and takes once.
    #[inline]
    pub(super) unsafe fn take_short(&self, position: usize) -> S {
        // SAFETY: as the caller promises.
        self.held[position % 2].with(|_| unsafe { self.half(position).read() })
    }

    /// # Safety
    /// The slot holds a long value, which the caller alone may take, and takes once.
    #[inline]
    pub(super) unsafe fn take_long(&self) -> L {
        let [first, second] = &self.held;
        // SAFETY: as the caller promises.
        first.with(|_| second.with(|_| unsafe { self.whole().read() }))
    }

    /// # Safety
    /// The slot holds a long value, which no thread takes meanwhile.
    #[inline]
    pub(super) unsafe fn peek_long<R>(&self, look: impl FnOnce(&L) -> R) -> R {
        let [first, second] = &self.held;
        // SAFETY: as the caller promises.
        first.with(|_| second.with(|_| look(unsafe { &*self.whole() })))
    }

    #[inline]
    fn turn(&self, position: usize) -> &AtomicUsize {
        if is_first(position) { &self.first } else { &self.second }
    }

    #[inline]
    fn half(&self, position: usize) -> *mut S {
        self.room.get().cast::<S>().wrapping_add(position % 2)
    }

    #[inline]
    fn whole(&self) -> *mut L {
        self.room.get().cast()
    }
}
