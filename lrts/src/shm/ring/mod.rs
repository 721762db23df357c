//! Ring: frames of one node for one other, in memory that both map.
//!
//! 1. The first page holds the cursors (`cursor`); the rest, a power of two, is the data: lines of 64 bytes that wrap around.
//! 2. A record is a header of 8 bytes (magic, kind, length) at the start of a line, then the frame, to the end of a line.
//!    So a header never wraps, a frame may, and a frame of up to 56 bytes shares the header's cache line.
//! 3. Apart from headers, the data are reached by raw copies only. A frame is copied out before anybody looks at it,
//!    because the other side could change it meanwhile; a header is read once.
//! 4. A record becomes visible as a whole: a producer that dies while it writes leaves nothing behind.
//! 5. Lengths and the cursor are checked against what can be; what cannot be is a breach, and the ring is over.

#![expect(unsafe_code, reason = "copies frames into and out of memory that another process maps")]

use super::cursor::{Consumer, Control, Corrupt, Lines, Producer, Room};
use crate::frame::{Channel, Frame};
use crate::host::RING_CONTROL_BYTES;
use crate::mapping::Mapping;
use crate::sync::AtomicU64;

/// The longest frame: half of the shortest ring, so that one always fits.
pub(super) const FRAME_BYTES_MAX: usize = 64 << 10;

const HEADER_BYTES: usize = 8;

/// A cache line of every processor we run on.
const LINE_BYTES: usize = 64;

/// Lines of a record that are asked for before it is written: of 4 KiB, as many as a processor keeps track of, and more.
const ASKED_LINES: u64 = 64;

/// Upper 24 bits of a header. A stray write into the ring is unlikely to leave them.
const MAGIC: u64 = 0x00c4_a7e5;

/// Kinds of record: channels, and this.
const GOODBYE: u8 = 0xff;

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// A frame for this reader.
    Frame(Channel),
    /// The last record: nothing follows.
    Goodbye,
}

impl RecordKind {
    fn byte(self) -> u8 {
        match self {
            Self::Frame(channel) => channel as u8,
            Self::Goodbye => GOODBYE,
        }
    }

    fn from_byte(byte: u8) -> Option<Self> {
        match byte {
            GOODBYE => Some(Self::Goodbye),
            channel => Channel::from_byte(channel).map(Self::Frame),
        }
    }
}

/// Result of writing a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The record is in the ring.
    Done {
        /// The reader sleeps: ring for it.
        ring: bool,
    },
    /// There is no room; the reader will ring.
    Full,
}

/// One end of a ring: the mapping and where its data lie. Asked several times for each frame, so it checks once, in `new`.
#[derive(Debug)]
struct Data {
    mapping: Mapping,
    capacity: usize,
}

impl Lines for Data {
    fn header(&self, line: u64) -> &AtomicU64 {
        let header = self.address(self.offset(line)).cast::<AtomicU64>();
        // SAFETY: the start of a line of the data, so inside the mapping (`new`), which `self` keeps, and aligned. An atomic word, for
        // which every bit pattern is a value. Raw copies reach the same bytes only while they are no header: between the reader's
        // `consume` and the writer's next store (`cursor`, rule 3).
        unsafe { &*header }
    }
}

impl Data {
    fn new(mapping: Mapping) -> Self {
        const { assert!(size_of::<Control>() <= RING_CONTROL_BYTES) };
        let capacity = mapping.len() - RING_CONTROL_BYTES;
        assert!(capacity.is_power_of_two() && capacity >= 2 * LINE_BYTES, "ring of {capacity} bytes");
        Self { mapping, capacity }
    }

    fn lines(&self) -> u64 {
        (self.capacity / LINE_BYTES) as u64
    }

    fn control(&self) -> &Control {
        // SAFETY: the first bytes of the mapping, which `self` keeps: a page and more (`new`), so aligned. `Control` consists of atomics,
        // for which every bit pattern is a value.
        unsafe { &*self.mapping.address().cast::<Control>() }
    }

    /// Where in the data a line starts.
    fn offset(&self, line: u64) -> usize {
        (line as usize).wrapping_mul(LINE_BYTES) & (self.capacity - 1)
    }

    /// The address of a byte that lies `offset` bytes after the start of the data, wrapped around.
    fn address(&self, offset: usize) -> *mut u8 {
        self.mapping.address().wrapping_add(RING_CONTROL_BYTES + (offset & (self.capacity - 1)))
    }

    /// How many of `len` bytes from `offset` on lie before the end of the data.
    fn before_end(&self, offset: usize, len: usize) -> usize {
        len.min(self.capacity - (offset & (self.capacity - 1)))
    }

    /// Asks for lines that are about to be written, all at once: stores leave the processor in order, and would wait for one line after the
    /// other, which the reader still has.
    fn ask_for(&self, line: u64, lines: u64) {
        (line..line + lines.min(ASKED_LINES)).for_each(|line| ask_to_write(self.address(self.offset(line))));
    }

    /// Writes the frame of a record, the first line last: a reader that waits looks at it again and again, and takes it away in between.
    fn write_frame(&self, line: u64, lines: u64, head: &[u8], body: &[u8]) {
        let offset = self.offset(line) + HEADER_BYTES;
        let in_first = LINE_BYTES - HEADER_BYTES;
        let (head_first, head_rest) = head.split_at(head.len().min(in_first));
        let (body_first, body_rest) = body.split_at(body.len().min(in_first - head_first.len()));
        if lines > 1 {
            self.ask_for(line + 1, lines - 1);
            self.write(offset + in_first, head_rest);
            self.write(offset + head.len() + body_first.len(), body_rest);
        }
        self.write(offset, head_first);
        self.write(offset + head.len(), body_first);
    }

    fn write(&self, offset: usize, bytes: &[u8]) {
        if bytes.is_empty() {
            return;
        }
        let (first, second) = bytes.split_at(self.before_end(offset, bytes.len()));
        // SAFETY: both targets lie inside the data: the first ends before their end, the second
        // starts at their start and is no longer than the capacity (the caller reserved the
        // room). The bytes are ours alone; the mapping is never a reference.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), self.address(offset), first.len());
            if !second.is_empty() {
                std::ptr::copy_nonoverlapping(second.as_ptr(), self.address(0), second.len());
            }
        }
    }

    fn read(&self, offset: usize, into: &mut [u8]) {
        let (first, second) = into.split_at_mut(self.before_end(offset, into.len()));
        // SAFETY: as for `write`, the other way round; the caller checked the length against the longest frame, which is
        // shorter than the data.
        unsafe {
            std::ptr::copy_nonoverlapping(self.address(offset), first.as_mut_ptr(), first.len());
            if !second.is_empty() {
                std::ptr::copy_nonoverlapping(self.address(0), second.as_mut_ptr(), second.len());
            }
        }
    }
}

/// The writing end.
#[derive(Debug)]
pub(crate) struct Writer {
    data: Data,
    producer: Producer,
}

impl Writer {
    /// The writing end of a fresh ring.
    pub(crate) fn new(mapping: Mapping) -> Self {
        let data = Data::new(mapping);
        let producer = Producer::new(data.lines());
        Self { data, producer }
    }

    /// Writes a frame.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn push(&mut self, frame: Frame<'_>) -> Result<Pushed, Corrupt> {
        self.push_record(RecordKind::Frame(frame.channel), [frame.head, frame.body])
    }

    /// Writes the last record.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn push_goodbye(&mut self) -> Result<Pushed, Corrupt> {
        self.push_record(RecordKind::Goodbye, [&[], &[]])
    }

    fn push_record(&mut self, kind: RecordKind, [head, body]: [&[u8]; 2]) -> Result<Pushed, Corrupt> {
        let Self { data, producer } = self;
        let len = head.len() + body.len();
        let lines = lines_for(len);
        let Room::At(line) = producer.reserve(data.control(), lines)? else {
            return Ok(Pushed::Full);
        };
        data.write_frame(line, lines, head, body);
        let header = MAGIC << 40 | u64::from(kind.byte()) << 32 | len as u64;
        Ok(Pushed::Done { ring: producer.publish(data.control(), data, header, lines) })
    }
}

#[cfg(test)]
impl Writer {
    /// Overwrites the first header.
    pub(crate) fn scribble(&mut self, header: u64) {
        self.data.header(0).store(header, crate::sync::Ordering::Relaxed);
    }
}

/// The reading end.
#[derive(Debug)]
pub(crate) struct Reader {
    data: Data,
    consumer: Consumer,
}

impl Reader {
    /// The reading end of a fresh ring.
    pub(crate) fn new(mapping: Mapping) -> Self {
        Self { data: Data::new(mapping), consumer: Consumer::new() }
    }

    /// Whether a record waits. One load, from a line that is in the cache until a record comes.
    pub(crate) fn has_record(&self) -> bool {
        self.consumer.look(&self.data) != 0
    }

    /// The lines of the ring: an end for those who read while somebody writes.
    pub(crate) fn lines(&self) -> u64 {
        self.data.lines()
    }

    /// Takes the next record, if one waits; copies its frame to the start of `scratch`, which has room for the longest
    /// one. Returns its kind, the frame's length, and the lines it took. For one thread at a time: the one that has the
    /// scratch.
    ///
    /// # Errors
    /// In words, what is wrong with the record.
    pub(crate) fn pop(&self, scratch: &mut [u8]) -> Result<Option<(RecordKind, usize, u64)>, String> {
        let Self { data, consumer } = self;
        let header = consumer.look(data);
        if header == 0 {
            return Ok(None);
        }
        let (kind, len) = ((header >> 32) as u8, (header & 0xffff_ffff) as usize);
        if header >> 40 != MAGIC {
            return Err(format!("header {header:#018x}"));
        }
        let kind = RecordKind::from_byte(kind).ok_or_else(|| format!("kind {kind}"))?;
        if len > FRAME_BYTES_MAX {
            return Err(format!("a frame of {len} bytes"));
        }
        data.read(data.offset(consumer.head()) + HEADER_BYTES, &mut scratch[..len]);
        let lines = lines_for(len);
        consumer.consume(data.control(), lines);
        Ok(Some((kind, len, lines)))
    }

    /// Whether to ring for the writer, which waits for room. Ask after a row of `pop`.
    ///
    /// The fence that the question needs is paid once for an eighth of the ring. A writer finds no room only while nearly half of
    /// the ring (all but its longest record) is unread, as it sees it; of that less than an eighth can have been read without
    /// a question. So the rest is still to be read, and a question comes with it.
    pub(crate) fn is_awaited(&self) -> bool {
        self.consumer.is_awaited(self.data.control(), self.lines() / 8)
    }

    /// As [`Consumer::fall_asleep`].
    pub(crate) fn fall_asleep(&self) {
        self.consumer.fall_asleep(self.data.control());
    }

    /// As [`Consumer::wake_up`].
    pub(crate) fn wake_up(&self) {
        self.consumer.wake_up(self.data.control());
    }
}

/// Asks for the line of an address, to be written soon.
#[inline]
fn ask_to_write(address: *const u8) {
    // SAFETY: a hint, which touches no memory as far as the program can tell, and faults nowhere; processors that do not know it ignore it.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) address, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Lines of a record whose frame has `len` bytes.
fn lines_for(len: usize) -> u64 {
    (HEADER_BYTES + len).div_ceil(LINE_BYTES) as u64
}

#[cfg(test)]
mod tests;
