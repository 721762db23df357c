//! Tests of one ring: lengths, laps, and records that no correct writer makes.

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

fn frame(bytes: &[u8]) -> Frame<'_> {
    let (head, body) = bytes.split_at(bytes.len() / 3);
    Frame { channel: Channel::Runtime, head, body }
}

fn take(reader: &Reader, scratch: &mut [u8]) -> Option<(RecordKind, Vec<u8>)> {
    let (kind, len, _) = reader.pop(scratch).expect("a sound record")?;
    Some((kind, scratch[..len].to_vec()))
}

#[test]
fn every_length_arrives_at_every_position() {
    let (mut writer, reader) = ring();
    let mut scratch = vec![0; FRAME_BYTES_MAX];
    let lens = [0, 1, 7, 8, 9, 55, 56, 57, 63, 64, 65, 4095, FRAME_BYTES_MAX - 1, FRAME_BYTES_MAX];
    // A total that is no divisor of the capacity: the wrap falls everywhere in the frames.
    for round in 0..200 {
        for len in lens {
            let sent = bytes(len, round);
            assert_eq!(writer.push(frame(&sent)), Ok(Pushed::Done { ring: false }));
            let (kind, heard) = take(&reader, &mut scratch).expect("a record");
            assert_eq!(kind, RecordKind::Frame(Channel::Runtime));
            assert!(heard == sent, "{len} bytes in round {round}");
            assert!(!reader.has_record());
        }
    }
}

#[test]
fn a_full_ring_refuses_and_takes_again() {
    let (mut writer, reader) = ring();
    let mut scratch = vec![0; FRAME_BYTES_MAX];
    let mut count = 0;
    while writer.push(frame(&[5; 56])) == Ok(Pushed::Done { ring: false }) {
        count += 1;
    }
    assert_eq!(count, CAPACITY / LINE_BYTES - 1);
    assert!(take(&reader, &mut scratch).is_some());
    assert!(!reader.is_awaited(), "a question for each record would cost more than the record");
    let before_question = reader.lines() / 8 - 1;
    for _ in 0..before_question {
        assert!(take(&reader, &mut scratch).is_some());
    }
    assert!(reader.is_awaited());
    assert!(!reader.is_awaited());
    assert_eq!(writer.push_goodbye(), Ok(Pushed::Done { ring: false }));
    let kinds: Vec<RecordKind> =
        std::iter::from_fn(|| take(&reader, &mut scratch)).map(|(kind, _)| kind).collect();
    assert_eq!(kinds.len(), count - before_question as usize);
    assert_eq!(kinds.last(), Some(&RecordKind::Goodbye));
}

#[test]
fn hostile_headers_are_errors() {
    let real = MAGIC << 40 | 64;
    let headers = [
        real | 1 << 31,
        real | ((1 << 31) - 1),
        real | 0xffff_ffff,
        real | 7 << 32,
        MAGIC << 40 | (FRAME_BYTES_MAX as u64 + 1),
        1,
        1 << 63,
        u64::MAX,
    ];
    for header in headers {
        let (mut writer, reader) = ring();
        let mut scratch = vec![0; FRAME_BYTES_MAX];
        writer.push(frame(&[1; 64])).expect("room");
        writer.scribble(header);
        let popped = reader.pop(&mut scratch);
        assert!(popped.is_err(), "{header:#x}: {popped:?}");
    }
}

#[test]
fn a_length_that_lies_reads_nothing_but_the_ring() {
    for len in [0, 1, 63, 65, FRAME_BYTES_MAX as u64] {
        let (mut writer, reader) = ring();
        let mut scratch = vec![0; FRAME_BYTES_MAX];
        writer.push(frame(&[1; 64])).expect("room");
        writer.scribble(MAGIC << 40 | len);
        let popped = reader.pop(&mut scratch).expect("nothing but the length is wrong");
        assert_eq!(popped.map(|(_, len, _)| len as u64), Some(len));
    }
}

#[test]
fn threads_exchange_frames_in_order() {
    let (mut writer, reader) = ring();
    let count = 50_000_usize;
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for index in 0..count {
                let sent = bytes(index % 300, index);
                while writer.push(frame(&sent)) == Ok(Pushed::Full) {
                    std::thread::yield_now();
                }
            }
        });
        let mut scratch = vec![0; FRAME_BYTES_MAX];
        let mut index = 0;
        while index < count {
            match take(&reader, &mut scratch) {
                Some((_, heard)) => {
                    assert!(heard == bytes(index % 300, index), "frame {index}");
                    index += 1;
                }
                None => std::thread::yield_now(),
            }
        }
    });
}
