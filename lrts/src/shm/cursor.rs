//! Cursors: how far a ring is written and read, and who must be woken. No bytes here, so that a model
//! checker can play it (`model::ring`).
//!
//! 1. `tail` counts the bytes ever written, `head` those ever read. The producer alone writes `tail`, the
//!    consumer alone `head`. Each remembers its own; what it reads of the other's is checked.
//! 2. The producer writes bytes, then publishes them by a release store of `tail`; the consumer's acquire load
//!    of `tail` pairs with it. In the same way the consumer gives room back by `head`.
//! 3. **Sleep.** The consumer sets `sleeping`, passes a fence, and looks at `tail` once more before it sleeps. The producer
//!    publishes, passes a fence, and looks at `sleeping`. One of them sees the other, so either the
//!    consumer stays awake or the producer rings.
//! 4. **Starvation.** The producer without room sets `starved`, passes a fence, and looks at `head` once more. The consumer
//!    gives room back, passes a fence, and looks at `starved`. Either the producer finds room or the consumer rings.
//! 5. Whoever clears one of the two words for the other side rings, once. A ring that is not needed any more does no
//!    harm. Both sides write these words by read-modify-write only, so each change follows the one it replaces.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Alone on its cache line, and on the one that the processor fetches beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// The words that both sides of a ring share. All-zero bytes are an empty ring.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Control {
    /// Written by the producer.
    tail: Apart<AtomicU64>,
    /// Written by the consumer.
    head: Apart<AtomicU64>,
    /// 1 while the consumer sleeps: set and cleared by it, cleared by a producer that then rings.
    sleeping: Apart<AtomicU32>,
    /// 1 while the producer waits for room: set by it, cleared by a consumer that then rings.
    starved: Apart<AtomicU32>,
}

/// The other side's cursor stands where it cannot stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{head} bytes read and {tail} written cannot be")]
pub(crate) struct Corrupt {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

/// What became of a wish for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// As many bytes may be written, from this count on.
    At(u64),
    /// Not now; the consumer will ring once it has read.
    None,
}

/// The writing side's own memory.
#[derive(Debug)]
pub(crate) struct Producer {
    capacity: u64,
    tail: u64,
    /// The consumer's cursor as last seen.
    head: u64,
}

impl Producer {
    /// The producer of an empty ring.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, tail: 0, head: 0 }
    }

    /// Asks for room.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn reserve(&mut self, control: &Control, bytes: u64) -> Result<Room, Corrupt> {
        if !self.has_room(bytes) {
            self.look(control)?;
        }
        if !self.has_room(bytes) {
            control.starved.0.swap(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.look(control)?;
        }
        Ok(if self.has_room(bytes) { Room::At(self.tail) } else { Room::None })
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.capacity - self.tail.wrapping_sub(self.head) >= bytes
    }

    fn look(&mut self, control: &Control) -> Result<(), Corrupt> {
        let head = control.head.0.load(Ordering::Acquire);
        // Between what was seen before and what was written: it never goes back or overtakes.
        if head.wrapping_sub(self.head) > self.tail.wrapping_sub(self.head) {
            return Err(Corrupt { head, tail: self.tail });
        }
        self.head = head;
        Ok(())
    }

    /// Shows reserved and written bytes to the consumer. Returns whether to ring for it.
    pub(crate) fn publish(&mut self, control: &Control, bytes: u64) -> bool {
        self.tail = self.tail.wrapping_add(bytes);
        control.tail.0.store(self.tail, Ordering::Release);
        fence(Ordering::SeqCst);
        take(&control.sleeping.0)
    }
}

/// The reading side's own memory.
#[derive(Debug)]
pub(crate) struct Consumer {
    capacity: u64,
    head: u64,
}

impl Consumer {
    /// The consumer of an empty ring.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, head: 0 }
    }

    /// Where it reads next.
    pub(crate) fn head(&self) -> u64 {
        self.head
    }

    /// How many bytes wait.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn available(&self, control: &Control) -> Result<u64, Corrupt> {
        let tail = control.tail.0.load(Ordering::Acquire);
        let available = tail.wrapping_sub(self.head);
        if available > self.capacity {
            return Err(Corrupt { head: self.head, tail });
        }
        Ok(available)
    }

    /// Gives the room of bytes that were read back. Ask `is_awaited` afterwards, once for many.
    pub(crate) fn consume(&mut self, control: &Control, bytes: u64) {
        self.head = self.head.wrapping_add(bytes);
        control.head.0.store(self.head, Ordering::Release);
    }

    /// Whether to ring for a producer that waits for room.
    pub(crate) fn is_awaited(&self, control: &Control) -> bool {
        fence(Ordering::SeqCst);
        take(&control.starved.0)
    }

    /// Asks to be rung for. Afterwards pass [`settle`] once for all rings, then look at `available`.
    pub(crate) fn fall_asleep(&self, control: &Control) {
        control.sleeping.0.swap(1, Ordering::Relaxed);
    }

    /// Asks no longer.
    pub(crate) fn wake_up(&self, control: &Control) {
        control.sleeping.0.swap(0, Ordering::Relaxed);
    }
}

/// The consumer's fence of rule 3.
pub(crate) fn settle() {
    fence(Ordering::SeqCst);
}

/// Clears a word that is almost never set; whether this call cleared it.
fn take(word: &AtomicU32) -> bool {
    word.load(Ordering::Relaxed) != 0 && word.swap(0, Ordering::Relaxed) != 0
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn room_ends_exactly_at_the_capacity_and_returns() {
        let control = Control::default();
        let (mut producer, mut consumer) = (Producer::new(64), Consumer::new(64));
        assert_eq!(producer.reserve(&control, 65), Ok(Room::None));
        assert_eq!(producer.reserve(&control, 64), Ok(Room::At(0)));
        assert!(!producer.publish(&control, 64));
        assert_eq!(producer.reserve(&control, 1), Ok(Room::None));
        assert_eq!(consumer.available(&control), Ok(64));
        consumer.consume(&control, 8);
        assert!(consumer.is_awaited(&control));
        assert!(!consumer.is_awaited(&control));
        assert_eq!(producer.reserve(&control, 9), Ok(Room::None));
        assert_eq!(producer.reserve(&control, 8), Ok(Room::At(64)));
    }

    #[test]
    fn cursors_that_cannot_be_are_noticed() {
        let control = Control::default();
        let (mut producer, consumer) = (Producer::new(64), Consumer::new(64));
        for tail in [65, 1 << 31, (1 << 32) + 1, 1 << 63, u64::MAX] {
            control.tail.0.store(tail, Ordering::Relaxed);
            assert_eq!(consumer.available(&control), Err(Corrupt { head: 0, tail }));
        }
        control.tail.0.store(0, Ordering::Relaxed);
        producer.publish(&control, 64);
        for head in [65, 1 << 31, (1 << 32) + 1, 1 << 63, u64::MAX] {
            control.head.0.store(head, Ordering::Relaxed);
            assert_eq!(producer.reserve(&control, 1), Err(Corrupt { head, tail: 64 }));
        }
    }

    #[test]
    fn cursors_wrap_around() {
        let control = Control::default();
        let start = u64::MAX - 31;
        control.tail.0.store(start, Ordering::Relaxed);
        control.head.0.store(start, Ordering::Relaxed);
        let mut producer = Producer { capacity: 64, tail: start, head: start };
        let mut consumer = Consumer { capacity: 64, head: start };
        for _ in 0..8 {
            assert!(matches!(producer.reserve(&control, 48), Ok(Room::At(_))));
            producer.publish(&control, 48);
            assert_eq!(consumer.available(&control), Ok(48));
            consumer.consume(&control, 48);
        }
    }
}
