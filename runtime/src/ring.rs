//! The way from one PE to one other of its node: a ring of slots, one sender, one receiver, values in place.
//!
//! 1. Position `p` of the stream stands in slot `p mod LEN`. Its slot is full once the slot's turn is `p + 1`: the sender
//!    writes the value, then stores the turn; the receiver loads the turn, then reads the value.
//! 2. The receiver stores in `taken` how many values it has taken. The sender writes position `p` only after it has seen
//!    `taken > p - LEN`; it looks only when what it saw last does not suffice.
//! 3. So every slot's line is written by the sender alone and crosses once to the receiver for each value, turn and value
//!    together; and there is one sender and one receiver, because their handles cannot be cloned.
//!
//! `tests/model` checks it.

#![expect(unsafe_code, reason = "slots that two threads own in turn")]

use crate::sync::{Arc, AtomicUsize, Ordering, UnsafeCell};
use std::mem::MaybeUninit;

/// Slots of a ring: a burst of some microseconds. What finds no room goes another way.
#[cfg(not(loom))]
const LEN: usize = 128;
#[cfg(loom)]
const LEN: usize = 2;

/// Two lines, which processors fetch as a pair; so turn and value of a message cross together, and neighbours do not collide.
#[repr(align(128))]
struct Slot<T> {
    /// Written by the sender (release), read by the receiver (acquire).
    turn: AtomicUsize,
    value: UnsafeCell<MaybeUninit<T>>,
}

#[repr(align(128))]
struct Taken(AtomicUsize);

struct Ring<T> {
    slots: Box<[Slot<T>]>,
    /// Written by the receiver (release), read by the sender (acquire).
    taken: Taken,
}

// SAFETY: a slot's value is touched by the sender or by the receiver, never by both at a time (rules 1 and 2); so sharing a
// ring between two threads moves values from one to the other and shares none.
unsafe impl<T: Send> Sync for Ring<T> {}

impl<T> Ring<T> {
    fn slot(&self, position: usize) -> &Slot<T> {
        &self.slots[position % LEN]
    }

    /// Takes the value of a position.
    ///
    /// # Safety
    /// The caller is the receiver, or the ring's last owner; has seen the position's turn, and takes it for the first time.
    unsafe fn take(&self, position: usize) -> T {
        // SAFETY: the turn says that the value was written, and the caller that it was not taken; the sender does not come
        // back to the slot before `taken` is beyond the position.
        self.slot(position).value.with(|value| unsafe { (*value).assume_init_read() })
    }

    fn is_full_at(&self, position: usize) -> bool {
        self.slot(position).turn.load(Ordering::Acquire) == position + 1
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        let mut position = self.taken.0.load(Ordering::Acquire);
        while self.is_full_at(position) {
            // SAFETY: both handles are gone; the position was sent and not taken.
            drop(unsafe { self.take(position) });
            position += 1;
        }
    }
}

/// The end that sends.
pub(crate) struct Sender<T> {
    ring: Arc<Ring<T>>,
    /// The next position to write.
    next: usize,
    /// What `taken` was when last looked at.
    taken: usize,
}

/// The end that receives.
pub(crate) struct Receiver<T> {
    ring: Arc<Ring<T>>,
    /// The next position to read.
    next: usize,
}

/// A ring's two ends.
pub(crate) fn ring<T: Send>() -> (Sender<T>, Receiver<T>) {
    let slot = |_| Slot { turn: AtomicUsize::new(0), value: UnsafeCell::new(MaybeUninit::uninit()) };
    let ring = Arc::new(Ring { slots: (0..LEN).map(slot).collect(), taken: Taken(AtomicUsize::new(0)) });
    (Sender { ring: Arc::clone(&ring), next: 0, taken: 0 }, Receiver { ring, next: 0 })
}

impl<T> Sender<T> {
    /// Room for one value, if there is any.
    #[inline]
    pub(crate) fn room(&mut self) -> Option<Room<'_, T>> {
        if self.next - self.taken == LEN {
            self.taken = self.ring.taken.0.load(Ordering::Acquire);
        }
        (self.next - self.taken < LEN).then_some(Room(self))
    }
}

/// Room for one value in a ring.
pub(crate) struct Room<'a, T>(&'a mut Sender<T>);

impl<T> Room<'_, T> {
    /// Sends a value.
    #[inline]
    pub(crate) fn fill(self, value: T) {
        let Sender { ring, next, .. } = self.0;
        let slot = ring.slot(*next);
        slot.value.with_mut(|place| {
            // SAFETY: the receiver has taken what stood here (rule 2; the sender looked when it made the room) and does not
            // look before the turn is stored.
            unsafe { (*place).write(value) };
        });
        *next += 1;
        slot.turn.store(*next, Ordering::Release);
    }
}

impl<T> Receiver<T> {
    /// Whether there is nothing to pop now.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        !self.ring.is_full_at(self.next)
    }

    /// The next value.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: this is the receiver; the position's turn was seen, and `next` passes each position once.
        let value = unsafe { self.ring.take(self.next) };
        self.next += 1;
        self.ring.taken.0.store(self.next, Ordering::Release);
        Some(value)
    }
}
