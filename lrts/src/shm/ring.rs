#![expect(unsafe_code, reason = "copies frames into and out of memory that another process maps")]
//! A ring: frames of one node for one other, in memory that both map.
//!
//! 1. The first page holds the cursors (`cursor`); the rest, a power of two, is the data, which wraps around.
//! 2. A record is a header of 8 bytes (magic, kind, length), the frame, and padding to 8 bytes; so a header never
//!    wraps, and a frame may.
//! 3. The data are reached by raw copies only. A frame is copied out before anybody looks at it, because the other
//!    side could change it meanwhile; a header is read once.
//! 4. A record becomes visible as a whole: a producer that dies while it writes leaves nothing behind.
//! 5. Lengths and cursors are checked against what can be; what cannot be is a breach, and the ring is over.

use super::FRAME_BYTES_MAX;
use super::cursor::{Consumer, Control, Corrupt, Producer, Room};
use crate::frame::Channel;
use crate::host::RING_CONTROL_BYTES;
use crate::host::mapping::Mapping;

const HEADER_BYTES: usize = 8;

/// Upper 24 bits of a header. A stray write into the ring is unlikely to leave them.
const MAGIC: u64 = 0x00c4_a7e5;

/// Kinds of record: channels, and this.
const GOODBYE: u8 = 0xff;

/// What a record carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A frame for this reader.
    Frame(Channel),
    /// Nothing will follow.
    Goodbye,
}

impl Kind {
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

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// It is in the ring.
    Done {
        /// The reader sleeps: ring for it.
        ring: bool,
    },
    /// There is no room; the reader will ring.
    Full,
}

/// One end of a ring: the mapping and where its data lie.
#[derive(Debug)]
struct Data {
    mapping: Mapping,
    capacity: usize,
}

impl Data {
    fn new(mapping: Mapping) -> Self {
        let capacity = mapping.len() - RING_CONTROL_BYTES;
        assert!(capacity.is_power_of_two(), "ring of {capacity} bytes");
        Self { mapping, capacity }
    }

    fn control(&self) -> &Control {
        // SAFETY: `Control` consists of atomics, for which every bit pattern is a value.
        unsafe { &self.mapping.atomics::<Control>(0, 1)[0] }
    }

    fn address(&self, position: u64) -> *mut u8 {
        let offset = position as usize & (self.capacity - 1);
        self.mapping.address().wrapping_add(RING_CONTROL_BYTES + offset)
    }

    /// How many of `len` bytes lie before the end of the data.
    fn before_end(&self, position: u64, len: usize) -> usize {
        len.min(self.capacity - (position as usize & (self.capacity - 1)))
    }

    fn write_header(&self, position: u64, header: u64) {
        // SAFETY: records start at multiples of 8 inside the data, which start at a page.
        unsafe { self.address(position).cast::<u64>().write_volatile(header) };
    }

    fn read_header(&self, position: u64) -> u64 {
        // SAFETY: as for `write_header`; volatile, because it must be read once.
        unsafe { self.address(position).cast::<u64>().read_volatile() }
    }

    fn write(&self, position: u64, bytes: &[u8]) {
        let (first, second) = bytes.split_at(self.before_end(position, bytes.len()));
        // SAFETY: both targets lie inside the data: the first ends before their end, the second
        // starts at their start and is no longer than the capacity (the caller reserved the
        // room). The bytes are ours alone; the mapping is never a reference.
        unsafe {
            std::ptr::copy_nonoverlapping(first.as_ptr(), self.address(position), first.len());
            std::ptr::copy_nonoverlapping(second.as_ptr(), self.address(0), second.len());
        }
    }

    fn read(&self, position: u64, into: &mut [u8]) {
        let (first, second) = into.split_at_mut(self.before_end(position, into.len()));
        // SAFETY: as for `write`, the other way round; `len` was checked against what is available.
        unsafe {
            std::ptr::copy_nonoverlapping(self.address(position), first.as_mut_ptr(), first.len());
            std::ptr::copy_nonoverlapping(self.address(0), second.as_mut_ptr(), second.len());
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
        let producer = Producer::new(data.capacity as u64);
        Self { data, producer }
    }

    /// Writes one record.
    ///
    /// # Errors
    /// [`Corrupt`].
    pub(crate) fn push(&mut self, kind: Kind, bytes: &[u8]) -> Result<Pushed, Corrupt> {
        let record_bytes = record_bytes(bytes.len()) as u64;
        let Room::At(position) = self.producer.reserve(self.data.control(), record_bytes)? else {
            return Ok(Pushed::Full);
        };
        let header = MAGIC << 40 | u64::from(kind.byte()) << 32 | bytes.len() as u64;
        self.data.write_header(position, header);
        self.data.write(position.wrapping_add(HEADER_BYTES as u64), bytes);
        Ok(Pushed::Done { ring: self.producer.publish(self.data.control(), record_bytes) })
    }
}

#[cfg(all(test, not(loom)))]
impl Writer {
    /// Overwrites the first header.
    pub(crate) fn scribble(&mut self) {
        self.data.write_header(0, u64::MAX);
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
        let data = Data::new(mapping);
        let consumer = Consumer::new(data.capacity as u64);
        Self { data, consumer }
    }

    /// How many bytes of records wait.
    ///
    /// # Errors
    /// In words, what is wrong with the cursors.
    pub(crate) fn available(&self) -> Result<u64, String> {
        self.consumer.available(self.data.control()).map_err(|corrupt| corrupt.to_string())
    }

    /// Takes the next record of the `available` bytes that wait; copies its frame to the start of `scratch`,
    /// which has room for the longest one. Returns its kind, the frame's length, and the record's.
    ///
    /// # Errors
    /// In words, what is wrong with the record.
    pub(crate) fn pop(&mut self, available: u64, scratch: &mut [u8]) -> Result<(Kind, usize, u64), String> {
        if available < HEADER_BYTES as u64 {
            return Err(format!("{available} bytes are too few for a record"));
        }
        let position = self.consumer.head();
        let header = self.data.read_header(position);
        let (kind, len) = ((header >> 32) as u8, (header & 0xffff_ffff) as usize);
        if header >> 40 != MAGIC {
            return Err(format!("header {header:#018x}"));
        }
        let kind = Kind::from_byte(kind).ok_or_else(|| format!("kind {kind}"))?;
        if len > FRAME_BYTES_MAX {
            return Err(format!("a frame of {len} bytes"));
        }
        let record_bytes = record_bytes(len) as u64;
        if record_bytes > available {
            return Err(format!("a frame of {len} bytes in {available}"));
        }
        self.data.read(position.wrapping_add(HEADER_BYTES as u64), &mut scratch[..len]);
        self.consumer.consume(self.data.control(), record_bytes);
        Ok((kind, len, record_bytes))
    }

    /// Whether to ring for the writer, who waits for room. Ask after a row of `pop`.
    pub(crate) fn is_awaited(&self) -> bool {
        self.consumer.is_awaited(self.data.control())
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

fn record_bytes(len: usize) -> usize {
    HEADER_BYTES + len.next_multiple_of(8)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const CAPACITY: usize = 128 << 10;

    fn ring() -> (Writer, Reader) {
        let len = RING_CONTROL_BYTES + CAPACITY;
        let (here, descriptor) = Mapping::create("test-ring", len).expect("memory");
        let there = Mapping::open(&descriptor, len).expect("memory");
        (Writer::new(here), Reader::new(there))
    }

    fn bytes(len: usize, seed: usize) -> Vec<u8> {
        (0..len).map(|index| (index * 7 + seed) as u8).collect()
    }

    fn take(reader: &mut Reader, scratch: &mut [u8]) -> Option<(Kind, Vec<u8>)> {
        let available = reader.available().expect("sound cursors");
        (available > 0).then(|| {
            let (kind, len, _) = reader.pop(available, scratch).expect("a sound record");
            (kind, scratch[..len].to_vec())
        })
    }

    #[test]
    fn every_length_arrives_at_every_position() {
        let (mut writer, mut reader) = ring();
        let mut scratch = vec![0; FRAME_BYTES_MAX];
        let lens = [0, 1, 7, 8, 9, 63, 64, 65, 4095, FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX];
        // A total that is no divisor of the capacity: the wrap falls everywhere in the frames.
        for round in 0..200 {
            for len in lens {
                let sent = bytes(len, round);
                let pushed = writer.push(Kind::Frame(Channel::Runtime), &sent);
                assert_eq!(pushed, Ok(Pushed::Done { ring: false }));
                let (kind, heard) = take(&mut reader, &mut scratch).expect("a record");
                assert_eq!(kind, Kind::Frame(Channel::Runtime));
                assert!(heard == sent, "{len} bytes in round {round}");
            }
        }
    }

    #[test]
    fn a_full_ring_refuses_and_takes_again() {
        let (mut writer, mut reader) = ring();
        let mut scratch = vec![0; FRAME_BYTES_MAX];
        let frame = [5; 8];
        let mut count = 0;
        while writer.push(Kind::Frame(Channel::Emulated), &frame) == Ok(Pushed::Done { ring: false }) {
            count += 1;
        }
        assert_eq!(count, CAPACITY / 16);
        assert!(take(&mut reader, &mut scratch).is_some());
        assert!(reader.is_awaited());
        assert_eq!(writer.push(Kind::Goodbye, &[]), Ok(Pushed::Done { ring: false }));
        let kinds: Vec<Kind> =
            std::iter::from_fn(|| take(&mut reader, &mut scratch)).map(|(kind, _)| kind).collect();
        assert_eq!(kinds.len(), count);
        assert_eq!(kinds.last(), Some(&Kind::Goodbye));
    }

    #[test]
    fn hostile_headers_are_errors() {
        let real = MAGIC << 40 | 64;
        let lens = [
            real - 1 - 64,
            real + 1,
            real | 1 << 31,
            real | ((1 << 31) - 1),
            real | 0xffff_ffff,
            real | (1 << 32),
            real | 7 << 32,
            MAGIC << 40 | FRAME_BYTES_MAX as u64,
            MAGIC << 40 | (FRAME_BYTES_MAX as u64 + 1),
            0,
            1,
            1 << 63,
            u64::MAX,
        ];
        for header in lens {
            let (mut writer, mut reader) = ring();
            let mut scratch = vec![0; FRAME_BYTES_MAX];
            writer.push(Kind::Frame(Channel::Runtime), &[1; 64]).expect("room");
            writer.data.write_header(0, header);
            let available = reader.available().expect("sound cursors");
            let popped = reader.pop(available, &mut scratch);
            // Another channel and the same length is a sound record.
            assert_eq!(popped.is_ok(), header == real | 1 << 32, "{header:#x}: {popped:?}");
        }
    }

    #[test]
    fn threads_exchange_frames_in_order() {
        let (mut writer, mut reader) = ring();
        let count = 50_000_usize;
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for index in 0..count {
                    let frame = bytes(index % 300, index);
                    while writer.push(Kind::Frame(Channel::Runtime), &frame) == Ok(Pushed::Full) {
                        std::thread::yield_now();
                    }
                }
            });
            let mut scratch = vec![0; FRAME_BYTES_MAX];
            let mut index = 0;
            while index < count {
                match take(&mut reader, &mut scratch) {
                    Some((_, heard)) => {
                        assert!(heard == bytes(index % 300, index), "frame {index}");
                        index += 1;
                    }
                    None => std::thread::yield_now(),
                }
            }
        });
    }
}
