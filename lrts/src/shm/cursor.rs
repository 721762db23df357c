//! Cursors: how far a ring is written and read, and which side must be woken. No bytes here, so that a model
//! checker can play it (`model::ring`).
//!
//! 1. A ring is a row of lines. A record takes whole lines, and the first word of its first line is its header, which is
//!    never 0: a header of 0 says that there is nothing yet. So a short record costs its reader one cache miss.
//!    Payload never looks like a header: rule 2.
//! 2. The producer writes a record, sets the header behind it to 0, and publishes it by a release store of its own header;
//!    the consumer's acquire load pairs with it. A reader that sees a record sees what follows it: 0 or the next record, never
//!    what stood there a lap ago.
//! 3. `head` counts the lines ever read. The consumer stores it with release when it has copied a record; the producer's
//!    acquire load pairs with it. The producer writes only lines that were read: a record and the header behind it.
//! 4. **Sleep.** The consumer sets `sleeping`, passes a fence, and looks at the header once more before it sleeps. The
//!    producer publishes, passes a fence, and looks at `sleeping`. One of them sees the other, so either the
//!    consumer stays awake or the producer rings.
//! 5. **Starvation.** The producer without room sets `starved`, passes a fence, and looks at `head` once more. The consumer
//!    gives room back, passes a fence, and looks at `starved`. Either the producer finds room or the consumer rings. The consumer
//!    need not look after each record, as long as what it gave back since the last look never suffices (`ring`).
//! 6. The side that clears one of the two words for the other side rings, once. A ring that is not needed any more does no
//!    harm. Both sides write these words by read-modify-write only, so each change follows the one it replaces.

use crate::sync::{AtomicU32, AtomicU64, Ordering, fence};

/// Alone on its cache line, and on the one that the processor fetches beside it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Apart<T>(T);

/// The words that both sides of a ring share, beside the headers. All-zero bytes are an empty ring.
#[derive(Debug, Default)]
#[repr(C)]
pub(crate) struct Control {
    /// Written by the consumer.
    head: Apart<AtomicU64>,
    /// 1 while the consumer sleeps: set and cleared by it, cleared by a producer that then rings.
    sleeping: Apart<AtomicU32>,
    /// 1 while the producer waits for room: set by it, cleared by a consumer that then rings.
    starved: Apart<AtomicU32>,
}

/// The memory of the headers.
pub(crate) trait Lines {
    /// The first word of a line; lines are counted from the ring's first use on, round and round.
    fn header(&self, line: u64) -> &AtomicU64;
}

/// Error of a consumer's cursor that no correct consumer writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{head} lines read and {tail} written cannot be")]
pub(crate) struct Corrupt {
    pub(crate) head: u64,
    pub(crate) tail: u64,
}

/// Result of a request for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// As many lines may be written, from this one on.
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
    /// A line behind the tail whose header is 0 already.
    cleared: u64,
}

impl Producer {
    /// The producer of an empty ring of `capacity` lines, one of which is always free.
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, tail: 0, head: 0, cleared: 0 }
    }

    /// Asks for room for a record.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn reserve(&mut self, control: &Control, lines: u64) -> Result<Room, Corrupt> {
        if !self.has_room(lines) {
            self.look(control)?;
        }
        if !self.has_room(lines) {
            control.starved.0.swap(1, Ordering::Relaxed);
            fence(Ordering::SeqCst);
            self.look(control)?;
        }
        Ok(if self.has_room(lines) { Room::At(self.tail) } else { Room::None })
    }

    /// Room for the record and the header behind it.
    fn has_room(&self, lines: u64) -> bool {
        self.capacity - self.tail.wrapping_sub(self.head) > lines
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

    /// Shows a record that was reserved and written, all but its header, to the consumer. Returns whether to ring for it.
    pub(crate) fn publish(&mut self, control: &Control, ring: &impl Lines, header: u64, lines: u64) -> bool {
        let next = self.tail.wrapping_add(lines);
        if self.cleared != next {
            ring.header(next).store(0, Ordering::Relaxed);
        }
        ring.header(self.tail).store(header, Ordering::Release);
        self.tail = next;
        fence(Ordering::SeqCst);
        let rings = take(&control.sleeping.0);
        self.clear_ahead(ring, lines);
        rings
    }

    /// Clears the header behind the next record, if that one is as long as the last: so the next `publish` need not wait
    /// for that line.
    fn clear_ahead(&mut self, ring: &impl Lines, lines: u64) {
        if self.has_room(lines) {
            self.cleared = self.tail.wrapping_add(lines);
            ring.header(self.cleared).store(0, Ordering::Relaxed);
        }
    }
}

/// The reading side's own memory. Any thread may look, one at a time may consume.
#[derive(Debug)]
pub(crate) struct Consumer {
    /// Written by the consumer. A look with an older value sees no record or one that is gone: it is only a hint.
    head: AtomicU64,
    /// Lines read since the producer was last looked for. Written by the consumer.
    unasked: AtomicU64,
}

impl Consumer {
    /// The consumer of an empty ring.
    pub(crate) fn new() -> Self {
        Self { head: AtomicU64::new(0), unasked: AtomicU64::new(0) }
    }

    /// Where the next record is or will be.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Relaxed)
    }

    /// The next record's header, or 0.
    pub(crate) fn look(&self, ring: &impl Lines) -> u64 {
        ring.header(self.head()).load(Ordering::Acquire)
    }

    /// Gives the room of a record that was read back. Ask `is_awaited` afterwards, once for many.
    pub(crate) fn consume(&self, control: &Control, lines: u64) {
        let head = self.head().wrapping_add(lines);
        self.head.store(head, Ordering::Relaxed);
        control.head.0.store(head, Ordering::Release);
        self.unasked.store(self.unasked.load(Ordering::Relaxed) + lines, Ordering::Relaxed);
    }

    /// Whether to ring for a producer that waits for room. Pays for the fence only when so many lines were read since the last
    /// question: fewer than a producer without room can have before it, beside those.
    pub(crate) fn is_awaited(&self, control: &Control, after_lines: u64) -> bool {
        if self.unasked.load(Ordering::Relaxed) < after_lines {
            return false;
        }
        self.unasked.store(0, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        take(&control.starved.0)
    }

    /// Asks to be rung for. Afterwards pass [`settle`] once for all rings, then look once more.
    pub(crate) fn fall_asleep(&self, control: &Control) {
        control.sleeping.0.swap(1, Ordering::Relaxed);
    }

    /// Asks no longer.
    pub(crate) fn wake_up(&self, control: &Control) {
        control.sleeping.0.swap(0, Ordering::Relaxed);
    }
}

/// The consumer's fence of rule 4.
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

    const LINES: u64 = 8;

    #[derive(Default)]
    struct Headers([AtomicU64; LINES as usize]);

    impl Lines for Headers {
        fn header(&self, line: u64) -> &AtomicU64 {
            &self.0[(line % LINES) as usize]
        }
    }

    #[test]
    fn room_ends_one_line_before_the_capacity_and_returns() {
        let (control, headers) = (Control::default(), Headers::default());
        let (mut producer, consumer) = (Producer::new(LINES), Consumer::new());
        assert_eq!(producer.reserve(&control, LINES), Ok(Room::None));
        assert_eq!(producer.reserve(&control, LINES - 1), Ok(Room::At(0)));
        assert!(!producer.publish(&control, &headers, 7, LINES - 1));
        assert_eq!(producer.reserve(&control, 1), Ok(Room::None));
        assert_eq!(consumer.look(&headers), 7);
        consumer.consume(&control, LINES - 1);
        assert_eq!(consumer.look(&headers), 0);
        assert!(consumer.is_awaited(&control, 1));
        assert!(!consumer.is_awaited(&control, 1));
        assert_eq!(producer.reserve(&control, LINES), Ok(Room::None));
        assert_eq!(producer.reserve(&control, LINES - 1), Ok(Room::At(LINES - 1)));
    }

    #[test]
    fn a_cursor_that_cannot_be_is_noticed() {
        let (control, headers) = (Control::default(), Headers::default());
        let mut producer = Producer::new(LINES);
        producer.publish(&control, &headers, 1, 4);
        for head in [5, 1 << 31, (1 << 32) + 1, 1 << 63, u64::MAX] {
            control.head.0.store(head, Ordering::Relaxed);
            assert_eq!(producer.reserve(&control, 4), Err(Corrupt { head, tail: 4 }));
        }
    }

    #[test]
    fn cursors_wrap_around() {
        let (control, headers) = (Control::default(), Headers::default());
        let start = u64::MAX - 3;
        control.head.0.store(start, Ordering::Relaxed);
        let mut producer = Producer { capacity: LINES, tail: start, head: start, cleared: start };
        let consumer = Consumer { head: AtomicU64::new(start), ..Consumer::new() };
        for header in 1..20 {
            assert!(matches!(producer.reserve(&control, 3), Ok(Room::At(_))));
            producer.publish(&control, &headers, header, 3);
            assert_eq!(consumer.look(&headers), header);
            consumer.consume(&control, 3);
            assert_eq!(consumer.look(&headers), 0);
        }
    }

    #[test]
    fn what_stood_there_a_lap_ago_is_not_read() {
        let (control, headers) = (Control::default(), Headers::default());
        headers.0.iter().for_each(|header| header.store(99, Ordering::Relaxed));
        let mut producer = Producer::new(LINES);
        producer.publish(&control, &headers, 1, 2);
        let consumer = Consumer::new();
        assert_eq!(consumer.look(&headers), 1);
        consumer.consume(&control, 2);
        assert_eq!(consumer.look(&headers), 0);
    }
}
